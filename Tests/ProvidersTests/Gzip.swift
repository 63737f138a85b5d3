// SPDX-License-Identifier: Apache-2.0

/// A text in gzip format (RFC 1952), stored without compression.
func gzipped(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    let length = [UInt8(bytes.count & 0xFF), UInt8(bytes.count >> 8)]
    var sum = UInt32.max
    for byte in bytes {
        sum ^= UInt32(byte)
        for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    let checksum = (0..<4).map { UInt8(truncatingIfNeeded: ~sum >> (8 * UInt32($0))) }
    let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1]
    return head + length + length.map { ~$0 } + bytes + checksum + length + [0, 0]
}
