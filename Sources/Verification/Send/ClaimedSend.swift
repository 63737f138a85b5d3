// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A send claimed by this worker, with everything needed to hand the message over.
///
/// A class, since it is large, never changes, and is passed from stage to stage.
package final class ClaimedSend: Sendable {
    package let reference: SendReference
    package let tenant: String
    package let purpose: Purpose

    /// The phone number's region; nil on other channels.
    package let region: Region?
    package let recipient: Recipient
    package let credential: Credential
    package let rendering: Rendering

    /// The target of an e-mail's link; nil for an e-mail with the code alone.
    package let actionCode: RequestActionCode?

    /// The time after which the message is never handed over.
    package let deadline: Timestamp

    /// The time until `deadline`, measured at the claim.
    package let timeLeft: Duration

    /// The time until the credential expires, measured at the claim.
    package let validityLeft: Duration

    /// The time until the code beside a link expires, measured at the claim; nil without a link.
    ///
    /// It may be negative: then only the link is worth sending.
    package let shortCodeLeft: Duration?
    package let generation: Int32

    /// The calls to providers that earlier claims made for this send.
    package let attempts: Int16

    /// True for a send to a test number: no provider is called.
    package let isFictional: Bool

    /// The providers that refused the message in earlier claims; they are not called again.
    package let refusers: [String]

    /// The provider that the last retry waited for; it is called first.
    package let retryProvider: String?

    /// The constraints of the one more attempt after an unknown outcome; nil for a first attempt.
    package let repetition: Repetition?

    /// The providers that took, or may have taken, an earlier message of the verification.
    package let usedProviders: [String]

    /// The provider at which the person opted out during the verification, if any.
    package let optedOutAt: String?

    /// The verification as of the claim, if known.
    package let verification: StoredVerification?

    package init(
        reference: SendReference,
        tenant: String,
        purpose: Purpose,
        region: Region?,
        recipient: Recipient,
        credential: Credential,
        rendering: Rendering,
        actionCode: RequestActionCode? = nil,
        deadline: Timestamp,
        timeLeft: Duration,
        validityLeft: Duration,
        shortCodeLeft: Duration? = nil,
        generation: Int32,
        attempts: Int16,
        isFictional: Bool,
        refusers: [String] = [],
        retryProvider: String? = nil,
        repetition: Repetition? = nil,
        usedProviders: [String] = [],
        optedOutAt: String? = nil,
        verification: StoredVerification? = nil
    ) {
        self.verification = verification
        self.reference = reference
        self.tenant = tenant
        self.purpose = purpose
        self.region = region
        self.recipient = recipient
        self.credential = credential
        self.rendering = rendering
        self.actionCode = actionCode
        self.deadline = deadline
        self.timeLeft = timeLeft
        self.validityLeft = validityLeft
        self.shortCodeLeft = shortCodeLeft
        self.generation = generation
        self.attempts = attempts
        self.isFictional = isFictional
        self.refusers = refusers
        self.retryProvider = retryProvider
        self.repetition = repetition
        self.usedProviders = usedProviders
        self.optedOutAt = optedOutAt
    }

    package var id: SendID { reference.id }
    package var isRepeat: Bool { repetition != nil }

    /// The link to send in an e-mail, at a policy's path; nil for a credential that is no link.
    package func link(at path: String = EmailLinkPolicy.defaultPath) -> ActionLink? {
        guard case .link(let token, _) = credential, let actionCode else { return nil }
        return ActionLink(
            token: token,
            verification: reference.verificationID,
            tenant: tenant,
            purpose: purpose,
            language: rendering.language,
            actionCode: actionCode,
            path: path
        )
    }
}

/// One claim of a send, distinct from later claims of the same send, also by the same worker.
package struct SendClaim: Sendable, Hashable {
    package let send: SendID
    package let fence: Int32

    package init(_ send: SendID, fence: Int32) {
        self.send = send
        self.fence = fence
    }
}

extension SendReference {
    package var claim: SendClaim { SendClaim(id, fence: fence) }
}

extension ClaimedSend {
    package var claim: SendClaim { reference.claim }
}

/// The one more attempt for a send whose outcome is unknown (`worker.unknownOutcome: resend_once`).
package struct Repetition: Sendable, Equatable {
    /// The reason why the outcome is unknown; it stays unknown unless a provider takes the repeat.
    package let reason: SendDisposition.UnknownReason

    /// The providers that refused the message, then the one that may have it; nil if that one is not known.
    package let triedProviders: [String]?

    package init(reason: SendDisposition.UnknownReason, triedProviders: [String]?) {
        self.reason = reason
        self.triedProviders = triedProviders
    }

    package var doubtful: String? { triedProviders?.last }

    /// The route's providers that the repeat may go to, in order, the one that may have the message last.
    ///
    /// That provider would deliver the message twice, unless it accepts the send's id as an idempotency key. If it is
    /// not known, only providers with idempotency keys are safe.
    package func order(_ providers: [String], idempotent: Set<String>) -> [String] {
        guard let triedProviders, let doubtful else { return providers.filter(idempotent.contains) }
        let others = providers.filter { !triedProviders.contains($0) }
        return idempotent.contains(doubtful) && providers.contains(doubtful) ? others + [doubtful] : others
    }
}
