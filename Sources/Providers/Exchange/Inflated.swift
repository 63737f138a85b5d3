// SPDX-License-Identifier: Apache-2.0

import CZlib

/// Decompresses bodies, since some gateways compress without being asked to.
enum Inflated {
    private static let capacity = 4 * HTTPAnswer.maximumSize

    /// The decompressed bytes of a gzip, zlib or raw deflate body.
    ///
    /// Raw deflate has no header: many servers misread `deflate` as that. Nil for any other form, for damaged bytes,
    /// and beyond `capacity`.
    static func bytes(_ body: [UInt8]) -> [UInt8]? {
        bytes(body, window: 15 + 32) ?? bytes(body, window: -15)
    }

    private static func bytes(_ body: [UInt8], window: Int32) -> [UInt8]? {
        guard body.count <= HTTPAnswer.maximumSize else { return nil }
        var length = -1
        let plain = [UInt8](unsafeUninitializedCapacity: capacity) { target, count in
            body.withUnsafeBufferPointer { source in
                // SAFETY: zlib reads and writes within the two buffers, limited by the sizes passed with them.
                length = courier_inflate(
                    source.baseAddress,
                    UInt32(source.count),
                    target.baseAddress,
                    UInt32(capacity),
                    window
                )
            }
            count = max(0, length)
        }
        return length < 0 ? nil : plain
    }
}
