// SPDX-License-Identifier: Apache-2.0

/// What a provider says of a send after it took the message.
///
/// It carries neither number nor text. At least one of the two ids is there.
package struct Receipt: Sendable, Hashable, Redacted {
    /// The provider's name in the configuration.
    package let provider: String

    /// The reference that was given to the provider.
    package let sendID: SendID?

    /// The provider's own id of the message.
    package let providerMessageID: String?

    package let status: Status

    /// Why a message was not delivered, where the provider says so in a way that is understood.
    package let reason: UndeliveredReason?

    /// The provider's code of the failure, never its text.
    package let errorCode: String?

    /// When it happened, by the provider's clock.
    package let occurredAt: Timestamp?

    package init(
        provider: String,
        sendID: SendID?,
        providerMessageID: String?,
        status: Status,
        reason: UndeliveredReason? = nil,
        errorCode: String? = nil,
        occurredAt: Timestamp? = nil
    ) {
        self.provider = provider
        self.sendID = sendID
        self.providerMessageID = providerMessageID
        self.status = status
        self.reason = reason
        self.errorCode = errorCode
        self.occurredAt = occurredAt
    }

    /// What became of the message.
    package enum Status: String, Sendable, Hashable, CaseIterable {
        /// It is on its way: queued, buffered, or with the carrier.
        case sent
        case delivered
        case undelivered
    }

    package var description: String {
        "receipt \(status.rawValue) of \(sendID?.description ?? "a send") by \(provider)"
    }
}

/// The `reason` of an `undelivered` event.
package enum UndeliveredReason: String, Sendable, Hashable, CaseIterable {
    /// The phone is off, out of reach, full or without credit, or its network does not answer.
    case unreachable

    /// The carrier filtered the message, or lets none through to this phone or from this sender.
    case carrierBlocked = "carrier_blocked"

    /// The number cannot get text messages.
    case landline

    /// The person wants no messages, from us or from anybody.
    case optedOut = "opted_out"

    /// The number is assigned to nobody.
    case unknownNumber = "unknown_number"

    /// Its validity ran out on the way.
    case expired

    /// The provider took the message and refused it afterwards.
    case rejected
}

/// What reading a receipt's record came to.
package enum ReceiptReading: Sendable, Hashable {
    case receipt(Receipt)

    /// A callback that is understood and says nothing of a send's fate.
    case ignored(IgnoredReason)

    /// The record itself is kept, with the reason.
    case deadLetter(DeadLetterReason)
}

/// Why a callback changes nothing.
package enum IgnoredReason: String, Sendable, Hashable, CaseIterable {
    /// The provider does not know what became of the message.
    case outcomeUnknown = "outcome_unknown"

    /// A word that is in none of the provider's lists, such as one it has added since.
    case unknownStatus = "unknown_status"

    /// It tells of a message that was received, not sent.
    case inboundMessage = "inbound_message"
}
