// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import NIOCore

/// The fields read from Twilio's JSON, each absent where it is missing or not of its type.
///
/// Successes carry `sid` and `num_segments`, refusals `code`. Texts are never read: they repeat the number.
struct TwilioReply: Decodable {
    let sid: String?
    let segments: Int?
    let code: Int?

    /// A reply from any bytes; nil when they are not a JSON object.
    init?(_ body: ByteBuffer) {
        guard let reply = try? JSONDecoder().decode(TwilioReply.self, from: Data(body.readableBytesView)) else {
            return nil
        }
        self = reply
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        sid = (try? fields.decode(String.self, forKey: .sid)).flatMap { Self.isIdentifier($0) ? $0 : nil }
        segments = Self.number(in: fields, forKey: .segments, range: 1...100)
        code = Self.number(in: fields, forKey: .code, range: 1...999_999)
    }

    private enum CodingKeys: String, CodingKey {
        case sid
        case segments = "num_segments"
        case code
    }

    /// A number that comes as a number or, as `num_segments` does, as a string of digits.
    private static func number(
        in fields: KeyedDecodingContainer<CodingKeys>,
        forKey key: CodingKeys,
        range: ClosedRange<Int>
    ) -> Int? {
        let text = try? fields.decode(String.self, forKey: key)
        let number = text.map { Int($0) } ?? (try? fields.decode(Int.self, forKey: key))
        return number.flatMap { range.contains($0) ? $0 : nil }
    }

    /// What may be kept as a message id: up to 64 letters, digits, `-` and `_`.
    private static func isIdentifier(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
