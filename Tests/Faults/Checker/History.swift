// SPDX-License-Identifier: Apache-2.0

import Verification

/// What really happened to a fleet: what it was asked, what the provider got, what was published, what was written.
///
/// It holds numbers and codes, so it is never shown; violations name ids only.
struct History: Redacted, Sendable {
    var requests: [Request] = []
    var messages: [Message] = []
    var events: [Event] = []
    var deadLetters: [Place] = []
    var sends: [Send] = []
    var sendChanges: [SendChange] = []
    var verifications: [Verification] = []
    var outbox: [OutboxKey] = []

    /// Every record that was ever written to the outbox.
    var outboxInserts: [OutboxKey] = []

    /// The first offset that the group has not committed, by topic and partition.
    var committed: [String: [Int32: Int64]] = [:]

    /// Records for the fleet that are requests of nobody, each of which must be a dead letter.
    var unreadable: [Place] = []

    /// Secrets that were shown, each as words that do not show it again.
    var leaks: [String] = []

    /// Whether receipts came, which settle what nobody could know before.
    var hasReceipts = false

    var description: String { "\(requests.count) requests, \(messages.count) messages, \(events.count) events" }

    /// One request id, as the gateways sent it.
    struct Request: Sendable {
        let id: String
        let number: String

        /// Where its records are; the same request may have been put there several times.
        var places: [Place] = []

        /// Whether it may not lead to a message, whatever happens.
        var isRefused = false
    }

    struct Place: Hashable, Sendable {
        let topic: String
        let partition: Int32
        let offset: Int64
    }

    /// One complete call that the provider got.
    struct Message: Sendable {
        let number: String
        let code: String
        let time: Timestamp
        let isAccepted: Bool
    }

    /// One record of the delivery topic.
    struct Event: Sendable {
        let id: String
        let key: String
        let verification: String?
        let request: String
        let sequence: Int
        let status: String
        let reason: String?
        let place: Place
        let digest: Int

        /// Whether it answers a request, and is neither a repeated answer nor what became known later.
        var isDecision: Bool {
            reason != "duplicate_request" && reason != "request_id_conflict"
                && !["delivered", "undelivered", "expired"].contains(status)
        }

        /// True where it tells what became of a send that an earlier event of the verification called unknown.
        func settles(_ event: Event) -> Bool {
            verification == event.verification && sequence > event.sequence && ["sent", "failed"].contains(status)
        }
    }

    /// A send at the end.
    struct Send: Sendable {
        let id: String
        let verification: String
        let generation: Int
        let request: String
        let state: String
        let number: String
        let code: String
        let deadline: Timestamp
        let isRepeated: Bool
    }

    /// One write to a send's row, in the order of the writes.
    struct SendChange: Sendable {
        let send: String
        let writer: String
        let oldState: String?
        let newState: String
        let oldFence: Int
        let newFence: Int

        /// Whether the claim had run out by the database's clock.
        let leaseWasOver: Bool
    }

    /// A verification at the end.
    struct Verification: Sendable {
        let id: String
        let request: String
        let sequence: Int
        let isSendOpen: Bool
    }

    struct OutboxKey: Hashable, Sendable {
        let stream: String
        let sequence: Int
    }
}
