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
    /// `verifications` are theirs, locked, and one that is gone has no event; `now` is the database's clock.
    package static func settle(
        _ results: [SendResult],
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
            settle(result, &verification, status, now)
            verifications[verification.id] = verification
            changed.insert(verification.id)
            let event = event(result, verification, status, now)
            changes.outbox.append(event.record(source: source, appendedAt: result.send.appendedAt))
        }
        changes.verifications = changed.sorted().compactMap { verifications[$0] }
        return changes
    }

    private static func settle(
        _ result: SendResult,
        _ verification: inout StoredVerification,
        _ status: DeliveryStatus,
        _ now: Timestamp
    ) {
        verification.sequence += 1
        verification.status = status
        let taker = result.disposition.mayHaveLeft ? result.attempt?.provider : nil
        for provider in [result.doubtful, taker].compactMap(\.self)
        where !verification.usedProviders.contains(provider) {
            verification.usedProviders.append(provider)
        }
        if result.disposition == .failed(.optedOut) { verification.optedOutAt = result.attempt?.provider }
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
