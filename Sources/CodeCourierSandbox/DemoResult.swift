// SPDX-License-Identifier: Apache-2.0

/// The counts at the end of a demonstration.
struct DemoResult: Equatable, Sendable {
    var sent = 0
    var approved = 0
    var suppressed = 0
    var rejected = 0
    var deadLetters = 0

    /// The counts when everything works.
    static let expected = DemoResult(sent: 2, approved: 2, suppressed: 1, rejected: 1, deadLetters: 1)

    var isExpected: Bool { self == Self.expected }

    var json: String {
        """
        {"demo":"\(isExpected ? "ok" : "failed")","sent":\(sent),"approved":\(approved),"suppressed":\(suppressed),\
        "rejected":\(rejected),"dead_letters":\(deadLetters)}
        """
    }
}
