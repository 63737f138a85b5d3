// SPDX-License-Identifier: Apache-2.0

import Verification

/// What a demonstration came to.
struct DemoResult: Equatable, Sendable {
    var sent = 0
    var approved = 0
    var suppressed = 0
    var rejected = 0
    var deadLetters = 0

    /// What the scene comes to when everything works.
    static let expected = DemoResult(sent: 2, approved: 2, suppressed: 1, rejected: 1, deadLetters: 1)

    var isExpected: Bool { self == Self.expected }

    var json: String {
        var writer = JSONWriter()
        writer.object { result in
            result.member("demo", isExpected ? "ok" : "failed")
            result.member("sent", sent)
            result.member("approved", approved)
            result.member("suppressed", suppressed)
            result.member("rejected", rejected)
            result.member("dead_letters", deadLetters)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
