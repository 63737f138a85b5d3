// SPDX-License-Identifier: Apache-2.0

/// A send that this worker holds: what it needs to hand the message over.
///
/// A class, since it is large, never changes, and goes from stage to stage.
package final class ClaimedSend: Sendable {
    package let reference: SendReference
    package let tenant: String
    package let purpose: Purpose

    /// Of a phone number.
    package let region: Region?
    package let recipient: Recipient
    package let credential: Credential
    package let rendering: Rendering

    /// Where the link of an e-mail leads; nil for an e-mail with the code alone.
    package let actionCode: RequestActionCode?

    /// After it the message is never handed over.
    package let deadline: Timestamp

    /// What was left until then at the moment of the claim.
    package let timeLeft: Duration

    /// What is left of the credential's validity at the moment of the claim.
    package let validityLeft: Duration

    /// The same of the code beside a link; nil without a link.
    ///
    /// It may be over: then only the link is worth sending.
    package let shortCodeLeft: Duration?
    package let generation: Int32

    /// Calls to providers made for this send before.
    package let attempts: Int16

    /// A send to a test number: no provider is called.
    package let isFictional: Bool

    /// The providers that refused the message in earlier claims: they are not asked again.
    package let refusers: [String]

    /// The provider that an earlier claim ended by waiting for: it is asked first.
    package let retryProvider: String?

    /// What the one more attempt after an unknown outcome has to heed; nil for the first one.
    package let repetition: Repetition?

    /// The providers that have taken an earlier message of the verification, or may have.
    package let usedProviders: [String]

    /// The provider at which the person has opted out during the verification, if one has said so.
    package let optedOutAt: String?

    /// The verification as the claim left it, where that is known.
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

    /// The link of an e-mail.
    package var link: ActionLink? {
        guard case .link(let token, _) = credential, let actionCode else { return nil }
        return ActionLink(
            token: token,
            verification: reference.verificationID,
            tenant: tenant,
            purpose: purpose,
            language: rendering.language,
            actionCode: actionCode
        )
    }
}
