// SPDX-License-Identifier: Apache-2.0

import Verification

/// Distinguishes a server that refuses every message from one that refuses one person's.
///
/// It counts the distinct recipients of consecutive ambiguous refusals. One person has few addresses: refusals of up to
/// `longestOfOnePerson` of them, however often repeated, do not affect other messages.
struct RefusalStreak: Sendable {
    static let longestOfOnePerson = 5

    /// Hashes, so that no address is stored here; at most one more than the limit.
    private var recipients: Set<Int> = []

    /// Records an ambiguous refusal; true when it counts as a refusal of this host.
    mutating func refused(_ recipient: EmailAddress) -> Bool {
        if recipients.count <= Self.longestOfOnePerson { recipients.insert(Self.person(recipient)) }
        return recipients.count > Self.longestOfOnePerson
    }

    /// Records any other answer to a recipient or a message: the server serves this host.
    mutating func served() {
        recipients.removeAll()
    }

    /// Hashes a recipient without its `+tag`, which many servers let people choose freely.
    private static func person(_ recipient: EmailAddress) -> Int {
        let local = recipient.local.lowercased().prefix { $0 != "+" }
        return "\(local)@\(recipient.domain)".hashValue
    }
}
