// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// One complete request that the provider got, from the file that it writes before it answers.
package struct SentMessage: Decodable, Sendable {
    package let to: String
    package let body: String
    package let outcome: String

    /// When the request was complete, in RFC 3339.
    package let time: String

    /// Whether the provider took the message.
    package let accepted: Bool

    /// The code, which the text begins with.
    package var code: String { String(body.prefix { $0.isASCII && $0.isNumber }) }

    /// Reads the file's lines; one that is being written is left out.
    package static func read(_ text: String) -> [SentMessage] {
        text.split(separator: "\n").compactMap { try? JSONDecoder().decode(SentMessage.self, from: Data($0.utf8)) }
    }
}
