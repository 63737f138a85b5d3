// SPDX-License-Identifier: Apache-2.0

/// Settles sends: a pure function of what became of them and of their verifications.
package enum OutcomeDecision {
    /// The verifications that change, and the events that tell it.
    package struct Changes: Sendable {
        package var verifications: [StoredVerification] = []
        package var outbox: [OutboxRecord] = []
    }

    /// Settles a batch in its order.
    ///
    /// `results` are only those whose send's row took the result, so that every event belongs to one change;
    /// `verifications` are theirs, locked, and one that is gone has no event; `now` is the database's clock. `late` are the
    /// claims of sends that were `unknown` when their holder told of them.
    package static func settle(
        _ results: [SendResult],
        late: Set<SendClaim> = [],
        verifications: [VerificationID: StoredVerification],
        now: Timestamp,
        source: String
    ) -> Changes {
        var verifications = verifications
        var changed: Set<VerificationID> = []
        var changes = Changes()
        for result in results {
            guard let status = result.disposition.status,
                var verification = verifications[result.send.verificationID]
            else { continue }
            if late.contains(result.send.claim) {
                settleLate(result, &verification, status, now)
            } else {
                settle(result, &verification, status, now)
            }
            verifications[verification.id] = verification
            changed.insert(verification.id)
            let event = event(result, verification, status, now)
            changes.outbox.append(event.record(source: source, appendedAt: result.send.appendedAt))
        }
        changes.verifications = changed.sorted().compactMap { verifications[$0] }
        return changes
    }

    /// Settles a send that was `unknown`, as a receipt does: another one may have followed, whose window and state stay.
    ///
    /// One that surely never left gives back what it had used, so far as no other one uses it.
    private static func settleLate(
        _ result: SendResult,
        _ verification: inout StoredVerification,
        _ status: DeliveryStatus,
        _ now: Timestamp
    ) {
        let isNewest = !verification.sendOpen && result.send.number == verification.sendsUsed
        verification.sequence += 1
        // A verification that ran out stays expired for whoever asks again.
        if verification.state != .expired, isNewest || !result.disposition.isRefunded { verification.status = status }
        noteProviders(result, &verification)
        guard result.disposition.isRefunded else { return }
        verification.sendsUsed = max(0, verification.sendsUsed - 1)
        if isNewest { verification.resendAfter = now }
    }

    private static func noteProviders(_ result: SendResult, _ verification: inout StoredVerification) {
        let taker = result.disposition.mayHaveLeft ? result.attempt?.provider : nil
        for provider in [result.doubtful, taker].compactMap(\.self)
        where !verification.usedProviders.contains(provider) {
            verification.usedProviders.append(provider)
        }
        if result.disposition == .failed(.optedOut) { verification.optedOutAt = result.attempt?.provider }
    }

    private static func settle(
        _ result: SendResult,
        _ verification: inout StoredVerification,
        _ status: DeliveryStatus,
        _ now: Timestamp
    ) {
        verification.sequence += 1
        verification.status = status
        noteProviders(result, &verification)
        // A receipt comes when its send is over, and perhaps another one open.
        if result.disposition == .delivered { return }
        verification.sendOpen = false
        if result.disposition.isRefunded {
            verification.sendsUsed = max(0, verification.sendsUsed - 1)
            verification.resendAfter = now
            return
        }
        verification.resendAfter = now + result.send.resendWindow
        // A verification that has run out stays so: its slot may have gone to another one.
        let isAlive = verification.state == .live && verification.expiresAt > now
        if let validity = result.send.validity, result.disposition == .sent, isAlive {
            verification.restart(at: now, validity: validity)
        }
    }

    private static func event(
        _ result: SendResult,
        _ verification: StoredVerification,
        _ status: DeliveryStatus,
        _ now: Timestamp
    ) -> DeliveryEvent {
        DeliveryEvent(
            of: verification,
            requestID: result.send.requestID,
            status: status,
            reason: result.disposition.reason,
            rule: result.disposition.rule,
            send: DeliveryEvent.Send(
                id: result.send.id,
                number: result.send.number,
                max: verification.maxSends,
                provider: result.attempt?.provider,
                providerMessageID: result.attempt?.messageID,
                segments: result.attempt?.segments,
                encoding: result.attempt?.encoding,
                errorCode: result.attempt?.errorCode
            ),
            trace: result.send.trace,
            policyVersion: verification.policyVersion,
            occurredAt: now
        )
    }
}
