// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A verification as its row stores it.
package struct StoredVerification: Sendable, Equatable {
    /// The state of a verification.
    ///
    /// `live` ends as one of the others; `locked` becomes `expired` when its validity ends.
    package enum State: String, Sendable {
        case live
        case approved
        case expired
        case locked
        case cancelled
    }

    /// The code beside a link: either of the two is approved, and the code expires earlier.
    package struct ShortCode: Sendable, Equatable {
        package let hash: [UInt8]
        package var until: Timestamp

        package init(hash: [UInt8], until: Timestamp) {
            self.hash = hash
            self.until = until
        }
    }

    package let id: VerificationID
    package var codeKey: KeyID
    package var hashKey: KeyID
    package var generation: Int32

    /// The hash of the credential's secret: the code, the link's token, or the push's secret.
    package var codeHash: [UInt8]

    package var shortCode: ShortCode?

    /// The number of digits that a person types; nil for a push.
    package var codeLength: Int16?
    package var state: State

    /// The status of the newest event, nil before the first.
    package var status: DeliveryStatus?

    /// The reason of that status, if it has one.
    package var reason: String?
    package var checksUsed: Int16
    package var maxChecks: Int16
    package var sendsUsed: Int16
    package var maxSends: Int16

    /// True while a send has no outcome yet: no other send begins until it has.
    package var sendOpen: Bool

    /// The requests that wait for the outcome of the open send, too.
    package var waiting: [String]

    /// The sequence number of the newest event.
    package var sequence: Int32
    package var resendAfter: Timestamp
    package var expiresAt: Timestamp
    package var policyVersion: String

    /// The providers that took, or may have taken, a message of this verification: a resend prefers others.
    package var usedProviders: [String]

    /// The provider at which the person opted out, if any.
    package var optedOutAt: String?

    private let origin: Shared<Origin>

    /// The fields that never change.
    private struct Origin: Sendable, Equatable {
        let requestID: String
        let tenant: String
        let purpose: Purpose
        let channel: Channel
        let subject: String?
        let fingerprint: [UInt8]
        let region: Region?
        let masked: String
        let sealed: [UInt8]?
        let sealKey: KeyID
        let isFictional: Bool
        let brakeKeys: BrakeKeys?
    }

    package init(
        id: VerificationID,
        requestID: String,
        tenant: String,
        purpose: Purpose,
        channel: Channel,
        subject: String?,
        fingerprint: [UInt8],
        region: Region?,
        masked: String,
        sealed: [UInt8]?,
        sealKey: KeyID,
        codeKey: KeyID,
        hashKey: KeyID,
        generation: Int32,
        codeHash: [UInt8],
        shortCode: ShortCode? = nil,
        codeLength: Int16?,
        state: State,
        status: DeliveryStatus?,
        reason: String? = nil,
        checksUsed: Int16,
        maxChecks: Int16,
        sendsUsed: Int16,
        maxSends: Int16,
        sendOpen: Bool,
        waiting: [String] = [],
        sequence: Int32,
        resendAfter: Timestamp,
        expiresAt: Timestamp,
        policyVersion: String,
        isFictional: Bool,
        usedProviders: [String] = [],
        optedOutAt: String? = nil,
        brakeKeys: BrakeKeys? = nil
    ) {
        self.id = id
        origin = Shared(
            Origin(
                requestID: requestID,
                tenant: tenant,
                purpose: purpose,
                channel: channel,
                subject: subject,
                fingerprint: fingerprint,
                region: region,
                masked: masked,
                sealed: sealed,
                sealKey: sealKey,
                isFictional: isFictional,
                brakeKeys: brakeKeys
            )
        )
        self.codeKey = codeKey
        self.hashKey = hashKey
        self.generation = generation
        self.codeHash = codeHash
        self.shortCode = shortCode
        self.codeLength = codeLength
        self.state = state
        self.status = status
        self.reason = reason
        self.checksUsed = checksUsed
        self.maxChecks = maxChecks
        self.sendsUsed = sendsUsed
        self.maxSends = maxSends
        self.sendOpen = sendOpen
        self.waiting = waiting
        self.sequence = sequence
        self.resendAfter = resendAfter
        self.expiresAt = expiresAt
        self.policyVersion = policyVersion
        self.usedProviders = usedProviders
        self.optedOutAt = optedOutAt
    }

    package var requestID: String { origin.value.requestID }
    package var tenant: String { origin.value.tenant }
    package var purpose: Purpose { origin.value.purpose }
    package var channel: Channel { origin.value.channel }
    package var subject: String? { origin.value.subject }
    package var fingerprint: [UInt8] { origin.value.fingerprint }

    /// The phone number's region; nil on other channels.
    package var region: Region? { origin.value.region }
    package var masked: String { origin.value.masked }
    package var sealed: [UInt8]? { origin.value.sealed }
    package var sealKey: KeyID { origin.value.sealKey }

    /// True for a test number.
    package var isFictional: Bool { origin.value.isFictional }

    /// The keys for the toll-fraud brake, of a new verification; they are written once and not read back.
    package var brakeKeys: BrakeKeys? { origin.value.brakeKeys }

    /// The time until which both the credential and its short code are valid.
    var fullyValidUntil: Timestamp { shortCode.map { min($0.until, expiresAt) } ?? expiresAt }

    /// Maximum of requests that wait for one send: a person presses the button a few times.
    private static let mostWaiting = 8

    /// The verification with one more request that gets the outcome of its open send.
    func awaited(by requestID: String) -> StoredVerification {
        guard waiting.count < Self.mostWaiting else { return self }
        var copy = self
        copy.waiting.append(requestID)
        return copy
    }

    /// Begins the credential's validity now; the short code's expiry moves by the same amount.
    mutating func restart(at now: Timestamp, validity: Duration) {
        let end = now + validity
        if let short = shortCode { shortCode?.until = short.until + (end - expiresAt) }
        expiresAt = end
    }
}

/// A large immutable value, stored once however often its owner is copied.
final class Shared<Value: Sendable & Equatable>: Sendable, Equatable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    static func == (one: Shared, other: Shared) -> Bool { one === other || one.value == other.value }
}
