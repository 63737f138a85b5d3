// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The decisions of a sweep on the sends and verifications it finds: pure functions.
package enum SweepDecision {
    package struct Swept: Sendable {
        /// The sends to hand over now, with their fencing tokens already incremented.
        package var claims: [ClaimedSend] = []
        package var results: [SendResult] = []

        /// The sends among the results whose code does not match the stored hash.
        package var mismatches: [CodeMismatch] = []
    }

    /// Claims the sends that surely never left and are within their deadline, and settles the rest.
    ///
    /// With `repeatsUnknown`, a send that may have left is claimed once more within its deadline. At most `capacity`
    /// sends are claimed; the rest stays due for the next sweep or another worker.
    package static func decide(
        _ due: [DueSend],
        _ verifications: [VerificationID: StoredVerification],
        now: Timestamp,
        capacity: Int,
        repeatsUnknown: Bool = false,
        keys: CodeKeys
    ) -> Swept {
        var swept = Swept()
        for send in due {
            guard let verification = verifications[send.reference.verificationID] else {
                // The verification ended and is past retention, so no event is published.
                swept.results.append(send.result(send.state == .dispatching ? .unknown(.workerLost) : .expiredUnsent))
                continue
            }
            let isRepeat = send.state == .dispatching && repeatsUnknown && !send.isRepeated
            if send.state == .dispatching && !(isRepeat && send.deadline > now && verification.state == .live) {
                swept.results.append(send.result(.unknown(.workerLost)))
            } else if send.deadline <= now || verification.state != .live {
                // A repeated send may have left the first time, whatever happened the second time.
                swept.results.append(send.result(send.isRepeated ? .unknown(.timeout) : .expiredUnsent))
            } else if swept.claims.count >= capacity {
                continue
            } else if let claim = send.claim(of: verification, keys, isRepeat: isRepeat || send.isRepeated, now: now) {
                swept.claims.append(claim)
            } else {
                // The key of the recipient's seal or of the credential is missing from the key ring, or differs.
                if let mismatch = send.mismatch(with: verification, keys) { swept.mismatches.append(mismatch) }
                let mayHaveLeft = isRepeat || send.isRepeated
                swept.results.append(send.result(mayHaveLeft ? .unknown(.workerLost) : .failed(.providerUnavailable)))
            }
        }
        return swept
    }

    /// Expires verifications that ended without approval, or whose recipient was erased.
    package static func expire(
        _ verifications: [StoredVerification],
        now: Timestamp,
        source: String
    ) -> OutcomeDecision.Changes {
        var changes = OutcomeDecision.Changes()
        let source = EventSource(source, at: now)
        for var verification in verifications {
            let rule = verification.state == .cancelled ? "erase" : "validity"
            verification.state = .expired
            verification.status = .expired
            verification.reason = nil
            verification.sequence += 1
            changes.verifications.append(verification)
            let event = DeliveryEvent(
                of: verification,
                requestID: verification.requestID,
                subject: verification.subject,
                status: .expired,
                rule: rule,
                policyVersion: verification.policyVersion,
                occurredAt: now
            )
            changes.outbox.append(event.record(source: source))
        }
        return changes
    }
}

extension DueSend {
    fileprivate func result(_ disposition: SendDisposition) -> SendResult {
        SendResult(
            send: reference,
            disposition: disposition,
            attempts: attempts,
            attempt: nil,
            doubtful: isRepeated ? repetition.doubtful : nil
        )
    }

    private var repetition: Repetition {
        Repetition(reason: state == .dispatching ? .workerLost : .timeout, triedProviders: triedProviders)
    }

    fileprivate func claim(
        of verification: StoredVerification,
        _ keys: CodeKeys,
        isRepeat: Bool,
        now: Timestamp
    ) -> ClaimedSend? {
        guard let rendering, let recipient = recipient(verification, rendering, keys),
            let credential = credential(verification, keys), credential.mayBe(of: verification, keys)
        else { return nil }
        let actionCode = actionCode(verification, rendering, keys)
        guard actionCode != nil || rendering.sealedActionCode == nil else { return nil }
        return ClaimedSend(
            reference: reference.reclaimed,
            tenant: verification.tenant,
            purpose: verification.purpose,
            region: verification.region,
            recipient: recipient,
            credential: credential,
            rendering: rendering,
            actionCode: actionCode,
            deadline: deadline,
            timeLeft: deadline - now,
            validityLeft: verification.expiresAt - now,
            shortCodeLeft: verification.shortCode.map { $0.until - now },
            generation: generation,
            attempts: attempts,
            isFictional: verification.isFictional,
            refusers: refusers,
            retryProvider: state == .dispatching ? nil : retryProvider,
            repetition: isRepeat ? repetition : nil,
            usedProviders: verification.usedProviders,
            optedOutAt: verification.optedOutAt
        )
    }

    private func recipient(_ verification: StoredVerification, _ rendering: Rendering, _ keys: CodeKeys) -> Recipient? {
        open(verification.sealed, of: verification, keys).flatMap {
            Recipient(verification.channel, canonical: $0, pushApp: rendering.pushApp)
        }
    }

    private func actionCode(
        _ verification: StoredVerification,
        _ rendering: Rendering,
        _ keys: CodeKeys
    ) -> RequestActionCode? {
        open(rendering.sealedActionCode, of: verification, keys).flatMap { RequestActionCode(json: $0) }
    }

    private func open(_ sealed: [UInt8]?, of verification: StoredVerification, _ keys: CodeKeys) -> String? {
        guard let sealed, let key = keys.seal[verification.sealKey] else { return nil }
        return RecipientSeal.open(sealed, for: verification.id, key: key)
    }

    private func credential(_ verification: StoredVerification, _ keys: CodeKeys) -> Credential? {
        guard generation == verification.generation, let key = keys.code[verification.codeKey] else { return nil }
        return Credential(of: verification, key: key)
    }

    /// The mismatch between the stored hash and the derived credential, if any.
    ///
    /// A test number's code comes from the policy and is derived from no key.
    fileprivate func mismatch(with verification: StoredVerification, _ keys: CodeKeys) -> CodeMismatch? {
        guard let credential = credential(verification, keys), !credential.mayBe(of: verification, keys) else {
            return nil
        }
        return CodeMismatch(send: reference, codeKey: verification.codeKey, hashKey: verification.hashKey)
    }
}
