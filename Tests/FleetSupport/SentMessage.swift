// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// One complete request that the provider received, from the file that it writes before it answers.
package struct SentMessage: Decodable, Sendable {
    package let to: String
    package let body: String
    package let outcome: String

    /// Time at which the request was complete, in RFC 3339.
    package let time: String

    /// True when the provider accepted the message.
    package let accepted: Bool

    /// The code, which is the start of the text.
    package var code: String { String(body.prefix { $0.isASCII && $0.isNumber }) }
}

/// Reads the provider's file, each line once.
final class SentLog: Sendable {
    private let path: String
    private let state = Mutex((messages: [SentMessage](), length: UInt64(0)))

    init(path: String) {
        self.path = path
    }

    /// All messages so far, without an incomplete last line.
    var messages: [SentMessage] {
        state.withLock { state in
            guard let file = FileHandle(forReadingAtPath: path) else { return state.messages }
            defer { try? file.close() }
            guard (try? file.seek(toOffset: state.length)) != nil, let data = try? file.readToEnd(),
                let end = data.lastIndex(of: UInt8(ascii: "\n"))
            else { return state.messages }
            let decoder = JSONDecoder()
            for line in data[...end].split(separator: UInt8(ascii: "\n")) {
                if let message = try? decoder.decode(SentMessage.self, from: line) { state.messages.append(message) }
            }
            state.length += UInt64(end - data.startIndex + 1)
            return state.messages
        }
    }
}
