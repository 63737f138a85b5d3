// SPDX-License-Identifier: Apache-2.0

/// Writes the binary form of one value into memory that was sized for it.
// SAFETY: `buffer` is borrowed from `make`, whose closure is the only place where a writer exists; every write is
// checked against the end, so a wrong size yields a shorter value, never a write outside.
@safe struct BinaryWriter: ~Copyable {
    private let buffer: UnsafeMutableRawBufferPointer
    private var count = 0

    private init(_ buffer: UnsafeMutableRawBufferPointer) {
        unsafe self.buffer = unsafe buffer
    }

    /// The bytes that `body` writes, at most `size`.
    static func make(size: Int, _ body: (inout BinaryWriter) -> Void) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, initializedCount in
            var writer = unsafe BinaryWriter(UnsafeMutableRawBufferPointer(buffer))
            body(&writer)
            initializedCount = writer.count
        }
    }

    mutating func write<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        let size = MemoryLayout<Value>.size
        guard unsafe buffer.count - count >= size else { return }
        unsafe buffer.storeBytes(of: value.bigEndian, toByteOffset: count, as: Value.self)
        count += size
    }

    mutating func write(_ bytes: some Collection<UInt8>) {
        guard unsafe buffer.count - count >= bytes.count else { return }
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyBytes(from: bytes)
        count += bytes.count
    }
}
