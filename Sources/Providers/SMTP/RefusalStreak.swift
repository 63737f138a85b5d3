// SPDX-License-Identifier: Apache-2.0

import Verification

/// Tells a server that refuses everybody's messages from one that refuses some person's.
///
/// It counts the different recipients of refusals that may be of either, in a row. One person has few addresses: up to
/// `longestOfOnePerson` of them, however often they are asked for, hold back nobody else's message.
struct RefusalStreak: Sendable {
    static let longestOfOnePerson = 5

    /// Hashes, since addresses are nobody's to keep here; more than the limit are not needed.
    private var recipients: Set<Int> = []

    /// Takes an ambiguous refusal, and returns whether it is taken for one of this host by now.
    mutating func refused(_ recipient: EmailAddress) -> Bool {
        if recipients.count <= Self.longestOfOnePerson { recipients.insert(Self.person(recipient)) }
        return recipients.count > Self.longestOfOnePerson
    }

    /// Takes any other answer to a recipient or a message: the server serves this host.
    mutating func served() {
        recipients.removeAll()
    }

    /// A recipient without the tag that many servers let people put behind a plus.
    private static func person(_ recipient: EmailAddress) -> Int {
        let local = recipient.local.lowercased().prefix { $0 != "+" }
        return "\(local)@\(recipient.domain)".hashValue
    }
}
