// SPDX-License-Identifier: Apache-2.0

import CZlib

/// The bytes of a body that was sent compressed, as some gateways do unasked.
enum Inflated {
    private static let capacity = 4 * HTTPAnswer.maximumSize

    /// The plain bytes of a body in gzip's or zlib's form, or in that of `deflate` as many servers misread it, which has no
    /// header; nil for any other, for a damaged one, and for a huge one.
    static func bytes(_ body: [UInt8]) -> [UInt8]? {
        bytes(body, window: 15 + 32) ?? bytes(body, window: -15)
    }

    private static func bytes(_ body: [UInt8], window: Int32) -> [UInt8]? {
        guard body.count <= HTTPAnswer.maximumSize else { return nil }
        var length = -1
        let plain = [UInt8](unsafeUninitializedCapacity: capacity) { target, count in
            body.withUnsafeBufferPointer { source in
                // SAFETY: zlib reads and writes within the two buffers, by the sizes that go with them.
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
