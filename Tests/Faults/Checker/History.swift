// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The actual history of a fleet: requests, the provider's messages, published events and database writes.
///
/// It contains numbers and codes, so it is never printed; violations name ids only.
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

    /// The first uncommitted offset of the group, by topic and partition.
    var committed: [String: [Int32: Int64]] = [:]

    /// Records that are no valid requests, each of which must become a dead letter.
    var unreadable: [Place] = []

    /// Descriptions of the secrets that appeared in output, without the secrets themselves.
    var leaks: [String] = []

    /// True when receipts were sent, which can settle unknown outcomes.
    var hasReceipts = false

    var description: String { "\(requests.count) requests, \(messages.count) messages, \(events.count) events" }

    /// A request id with its records, as gateways sent them.
    struct Request: Sendable {
        let id: String
        let number: String

        /// The positions of its records; a request may have been published several times.
        var places: [Place] = []

        /// True when the request must not lead to a message.
        var isRefused = false
    }

    struct Place: Hashable, Sendable {
        let topic: String
        let partition: Int32
        let offset: Int64
    }

    /// One complete call that the provider received.
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

        /// True for an event that answers a request, and is neither a repeated answer nor a later status.
        var isDecision: Bool {
            reason != "duplicate_request" && reason != "request_id_conflict"
                && !["delivered", "undelivered", "expired"].contains(status)
        }

        /// Returns true when this event gives the outcome of a send that `event` reported as unknown.
        func settles(_ event: Event) -> Bool {
            verification == event.verification && sequence > event.sequence && ["sent", "failed"].contains(status)
        }
    }

    /// The final state of a send.
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

    /// One write to a send's row, in order of the writes.
    struct SendChange: Sendable {
        let send: String
        let writer: String
        let oldState: String?
        let newState: String
        let oldFence: Int
        let newFence: Int

        /// True when the claim's lease had expired by the database's clock.
        let leaseWasOver: Bool
    }

    /// The final state of a verification.
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
