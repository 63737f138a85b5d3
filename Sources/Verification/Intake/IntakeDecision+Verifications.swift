// SPDX-License-Identifier: Apache-2.0

import Formats

// Decisions that create or continue a verification.
extension IntakeDecision {
    mutating func begin(_ candidate: Candidate, _ request: VerificationRequest, _ passed: Screening.Passed) {
        guard admits(candidate, request, passed) else { return }
        let id = candidate.verificationID
        let credential = newCredential(request, id, generation: 1, passed)
        let validity = passed.tenant.validity(of: request)
        guard
            let sealed = RecipientSeal.seal(
                request.recipient.canonical,
                for: id,
                key: keys.seal.active,
                using: &randomness
            )
        else { preconditionFailure("AES-GCM seals any text with a key of 32 bytes") }
        var verification = StoredVerification(
            id: id,
            requestID: request.requestID,
            tenant: request.tenant,
            purpose: request.purpose,
            channel: request.channel,
            subject: request.subject,
            fingerprint: passed.slot.fingerprint,
            region: passed.region,
            masked: request.recipient.masked,
            sealed: sealed,
            sealKey: keys.seal.activeID,
            codeKey: keys.code.activeID,
            hashKey: keys.hash.activeID,
            generation: 1,
            codeHash: hash(credential.secret, id, request),
            shortCode: shortCode(credential, id, request, passed),
            codeLength: credential.code.map { Int16($0.digits.utf8.count) },
            state: .live,
            status: nil,
            checksUsed: 0,
            maxChecks: Int16(passed.tenant.code.maxChecks),
            sendsUsed: 0,
            maxSends: Int16(passed.tenant.resend.maxSends),
            sendOpen: true,
            sequence: 0,
            resendAfter: facts.now,
            expiresAt: facts.now + validity,
            policyVersion: policy.version,
            isFictional: passed.testNumber != nil,
            brakeKeys: passed.brakeKeys
        )
        link(candidate, to: id)
        inserted.insert(id)
        send(candidate, request, passed, &verification, credential, validity: validity)
    }

    mutating func resend(
        _ candidate: Candidate,
        _ request: VerificationRequest,
        _ passed: Screening.Passed,
        _ current: StoredVerification
    ) {
        guard admits(candidate, request, passed, resendOf: current) else { return }
        var verification = current
        link(candidate, to: verification.id)
        let validity = passed.tenant.validity(of: request)
        if let credential = sameCredential(verification, passed) {
            // The credential's validity begins with the first message that is sent.
            let isFirst = verification.sendsUsed == 0
            if isFirst {
                verification.restart(at: facts.now, validity: validity)
                verification.shortCode?.until = facts.now + passed.tenant.shortCodeValidity(of: request)
            }
            send(candidate, request, passed, &verification, credential, validity: isFirst ? validity : nil)
            return
        }
        verification.generation += 1
        let credential = newCredential(request, verification.id, generation: verification.generation, passed)
        verification.codeKey = keys.code.activeID
        verification.hashKey = keys.hash.activeID
        verification.codeLength = credential.code.map { Int16($0.digits.utf8.count) }
        verification.checksUsed = 0
        verification.codeHash = hash(credential.secret, verification.id, request)
        verification.shortCode = shortCode(credential, verification.id, request, passed)
        verification.expiresAt = facts.now + validity
        send(candidate, request, passed, &verification, credential, validity: validity)
    }

    mutating func send(
        _ candidate: Candidate,
        _ request: VerificationRequest,
        _ passed: Screening.Passed,
        _ verification: inout StoredVerification,
        _ credential: Credential,
        validity: Duration?
    ) {
        let isFictional = passed.testNumber != nil
        let number = min(verification.sendsUsed + 1, verification.maxSends)
        let window = isFictional ? .zero : passed.tenant.resend.window(afterSend: Int(number))
        verification.sendsUsed = number
        verification.sendOpen = true
        verification.resendAfter = facts.now + window
        verification.policyVersion = policy.version
        keep(verification)
        slots[passed.slot] = verification.id
        changes.slots[passed.slot] = verification.id
        let latest = request.asked(before: facts.now) + settings.maxRequestAge
        // An e-mail with a link is worth sending after its code has expired, any other message is not.
        let end = request.hasLink ? verification.expiresAt : verification.fullyValidUntil
        let deadline = min(request.deadline ?? latest, latest, end)
        let actionCode = request.hasLink ? request.actionCode : nil
        changes.sends.append(
            ClaimedSend(
                reference: SendReference(
                    id: candidate.sendID,
                    verificationID: verification.id,
                    fence: 1,
                    number: number,
                    requestID: request.requestID,
                    resendWindow: window,
                    validity: validity,
                    trace: request.trace,
                    appendedAt: candidate.record.timestamp
                ),
                tenant: request.tenant,
                purpose: request.purpose,
                region: passed.region,
                recipient: request.recipient,
                credential: credential,
                rendering: Rendering(
                    request,
                    tenant: passed.tenant,
                    sealedActionCode: actionCode.flatMap { seal($0.json, verification) }
                ),
                actionCode: actionCode,
                deadline: deadline,
                timeLeft: deadline - facts.now,
                validityLeft: verification.expiresAt - facts.now,
                shortCodeLeft: verification.shortCode.map { $0.until - facts.now },
                generation: verification.generation,
                attempts: 0,
                isFictional: isFictional,
                usedProviders: verification.usedProviders,
                optedOutAt: verification.optedOutAt,
                verification: verification
            )
        )
    }

    mutating func suppress(
        _ candidate: Candidate,
        _ current: StoredVerification,
        reason: SuppressionReason,
        retryAfter: Timestamp,
        rule: String
    ) {
        link(candidate, to: current.id, reason: reason.rawValue)
        publish(
            candidate,
            current,
            status: .suppressed,
            reason: .suppressed(reason),
            retryAfter: retryAfter,
            rule: rule
        )
    }

    /// Publishes an event about a verification: its current status again, unless another is given.
    mutating func publish(
        _ candidate: Candidate,
        _ verification: StoredVerification,
        status: DeliveryStatus? = nil,
        reason: EventReason,
        originalReason: String? = nil,
        retryAfter: Timestamp? = nil,
        rule: String
    ) {
        var current = verification
        current.sequence += 1
        keep(current)
        let event = DeliveryEvent(
            of: current,
            requestID: candidate.key.requestID,
            subject: candidate.subject,
            status: status ?? current.status ?? .suppressed,
            reason: reason,
            originalReason: originalReason,
            retryAfter: retryAfter,
            rule: rule,
            trace: candidate.trace,
            policyVersion: policy.version,
            occurredAt: facts.now
        )
        changes.outbox.append(event.record(source: source, appendedAt: candidate.record.timestamp))
    }

    mutating func link(_ candidate: Candidate, to id: VerificationID, reason: String? = nil) {
        guard var known = requests[candidate.key], known.verificationID != id else { return }
        known.verificationID = id
        known.reason = reason
        requests[candidate.key] = known
        changes.requests[candidate.key] = known
    }

    mutating func keep(_ verification: StoredVerification) {
        verifications[verification.id] = verification
        if !inserted.contains(verification.id) { updated.insert(verification.id) }
    }
}
