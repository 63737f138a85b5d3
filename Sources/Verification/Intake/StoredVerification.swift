// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A verification as its row stores it.
///
/// It is wide and passes through many hands, so its fields are shared.
package struct StoredVerification: Sendable, Equatable, CustomReflectable {
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

    private var shared: Shared<Fields>

    /// The stored fields; the constant ones never change.
    private struct Fields: Sendable, Equatable {
        let id: VerificationID
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
        var codeKey: KeyID
        var hashKey: KeyID
        var generation: Int32
        var codeHash: [UInt8]
        var shortCode: ShortCode?
        var codeLength: Int16?
        var state: State
        var status: DeliveryStatus?
        var reason: String?
        var checksUsed: Int16
        var maxChecks: Int16
        var sendsUsed: Int16
        var maxSends: Int16
        var sendOpen: Bool
        var waiting: [String]
        var sequence: Int32
        var resendAfter: Timestamp
        var expiresAt: Timestamp
        var policyVersion: String
        let isFictional: Bool
        var usedProviders: [String]
        var optedOutAt: String?
        let brakeKeys: BrakeKeys?
    }

    /// The fields, for a list of all of them.
    package var customMirror: Mirror { Mirror(reflecting: shared.fields) }

    package var id: VerificationID { shared.fields.id }
    package var codeKey: KeyID {
        get { shared.fields.codeKey }
        set { shared.fields.codeKey = newValue }
    }
    package var hashKey: KeyID {
        get { shared.fields.hashKey }
        set { shared.fields.hashKey = newValue }
    }
    package var generation: Int32 {
        get { shared.fields.generation }
        set { shared.fields.generation = newValue }
    }

    /// The hash of the credential's secret: the code, the link's token, or the push's secret.
    package var codeHash: [UInt8] {
        get { shared.fields.codeHash }
        set { shared.fields.codeHash = newValue }
    }

    package var shortCode: ShortCode? {
        get { shared.fields.shortCode }
        set { shared.fields.shortCode = newValue }
    }

    /// The number of digits that a person types; nil for a push.
    package var codeLength: Int16? {
        get { shared.fields.codeLength }
        set { shared.fields.codeLength = newValue }
    }
    package var state: State {
        get { shared.fields.state }
        set { shared.fields.state = newValue }
    }

    /// The status of the newest event, nil before the first.
    package var status: DeliveryStatus? {
        get { shared.fields.status }
        set { shared.fields.status = newValue }
    }

    /// The reason of that status, if it has one.
    package var reason: String? {
        get { shared.fields.reason }
        set { shared.fields.reason = newValue }
    }
    package var checksUsed: Int16 {
        get { shared.fields.checksUsed }
        set { shared.fields.checksUsed = newValue }
    }
    package var maxChecks: Int16 {
        get { shared.fields.maxChecks }
        set { shared.fields.maxChecks = newValue }
    }
    package var sendsUsed: Int16 {
        get { shared.fields.sendsUsed }
        set { shared.fields.sendsUsed = newValue }
    }
    package var maxSends: Int16 {
        get { shared.fields.maxSends }
        set { shared.fields.maxSends = newValue }
    }

    /// True while a send has no outcome yet: no other send begins until it has.
    package var sendOpen: Bool {
        get { shared.fields.sendOpen }
        set { shared.fields.sendOpen = newValue }
    }

    /// The requests that wait for the outcome of the open send, too.
    package var waiting: [String] {
        get { shared.fields.waiting }
        set { shared.fields.waiting = newValue }
    }

    /// The sequence number of the newest event.
    package var sequence: Int32 {
        get { shared.fields.sequence }
        set { shared.fields.sequence = newValue }
    }
    package var resendAfter: Timestamp {
        get { shared.fields.resendAfter }
        set { shared.fields.resendAfter = newValue }
    }
    package var expiresAt: Timestamp {
        get { shared.fields.expiresAt }
        set { shared.fields.expiresAt = newValue }
    }
    package var policyVersion: String {
        get { shared.fields.policyVersion }
        set { shared.fields.policyVersion = newValue }
    }

    /// The providers that took, or may have taken, a message of this verification: a resend prefers others.
    package var usedProviders: [String] {
        get { shared.fields.usedProviders }
        set { shared.fields.usedProviders = newValue }
    }

    /// The provider at which the person opted out, if any.
    package var optedOutAt: String? {
        get { shared.fields.optedOutAt }
        set { shared.fields.optedOutAt = newValue }
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
        shared = Shared(
            Fields(
                id: id,
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
                codeKey: codeKey,
                hashKey: hashKey,
                generation: generation,
                codeHash: codeHash,
                shortCode: shortCode,
                codeLength: codeLength,
                state: state,
                status: status,
                reason: reason,
                checksUsed: checksUsed,
                maxChecks: maxChecks,
                sendsUsed: sendsUsed,
                maxSends: maxSends,
                sendOpen: sendOpen,
                waiting: waiting,
                sequence: sequence,
                resendAfter: resendAfter,
                expiresAt: expiresAt,
                policyVersion: policyVersion,
                isFictional: isFictional,
                usedProviders: usedProviders,
                optedOutAt: optedOutAt,
                brakeKeys: brakeKeys
            )
        )
    }

    package var requestID: String { shared.fields.requestID }
    package var tenant: String { shared.fields.tenant }
    package var purpose: Purpose { shared.fields.purpose }
    package var channel: Channel { shared.fields.channel }
    package var subject: String? { shared.fields.subject }
    package var fingerprint: [UInt8] { shared.fields.fingerprint }

    /// The phone number's region; nil on other channels.
    package var region: Region? { shared.fields.region }
    package var masked: String { shared.fields.masked }
    package var sealed: [UInt8]? { shared.fields.sealed }
    package var sealKey: KeyID { shared.fields.sealKey }

    /// True for a test number.
    package var isFictional: Bool { shared.fields.isFictional }

    /// The keys for the toll-fraud brake, of a new verification; they are written once and not read back.
    package var brakeKeys: BrakeKeys? { shared.fields.brakeKeys }

    /// The time until which both the credential and its short code are valid.
    var fullyValidUntil: Timestamp { shortCode.map { min($0.until, expiresAt) } ?? expiresAt }

    /// Maximum of requests that wait for one send: a person presses the button a few times.
    private static let mostWaiting = 8

    /// Minimum pause of a gateway whose request waits for the outcome of an open send.
    private static let pendingPause = Duration.seconds(5)

    /// The time from which on a new request makes sense while a send is open.
    func retryAfter(at now: Timestamp) -> Timestamp { max(resendAfter, now + Self.pendingPause) }

    /// The verification with one more request that gets the outcome of its open send.
    func awaited(by requestID: String) -> StoredVerification {
        guard waiting.count < Self.mostWaiting else { return self }
        var copy = self
        copy.waiting.append(requestID)
        return copy
    }

    /// Stores the status of a message's event.
    ///
    /// Repeated requests are answered with the status: for them a verification that has ended stays as it ended.
    mutating func note(_ status: DeliveryStatus, _ reason: consuming String?) {
        if self.status?.isEnd == true { return }
        self.status = status
        self.reason = reason
    }

    /// Begins the credential's validity now; the short code's expiry moves by the same amount.
    mutating func restart(at now: Timestamp, validity: Duration) {
        let end = now + validity
        let delay = end - expiresAt
        if let short = shortCode { shortCode?.until = short.until + delay }
        expiresAt = end
    }
}
