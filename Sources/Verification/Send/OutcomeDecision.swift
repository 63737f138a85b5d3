// SPDX-License-Identifier: Apache-2.0

package import Formats

/// Settles sends: a pure function of their results and their verifications.
package enum OutcomeDecision {
    /// The time after which an event tells a request that its message is still waiting.
    private static let patience = Duration.seconds(4)

    /// The changed verifications, and the events that report the changes.
    package struct Changes: Sendable {
        package var verifications: [StoredVerification] = []
        package var outbox: [OutboxRecord] = []
    }

    /// Settles a batch in its order.
    ///
    /// `results` are those that changed their send's row, so that every event belongs to one change. `late` are the
    /// claims of sends that were `unknown` when their holder reported the result. `verifications` are those of the
    /// results, locked; a result without one publishes no event. `now` is the database's time.
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
        let source = EventSource(source, at: now)
        for result in results {
            guard var verification = verifications[result.send.verificationID] else { continue }
            if isHeldUp(result, verification, now) {
                verification.sequence += 1
                let event = event(result, result.send.requestID, verification, .suppressed, now)
                changes.outbox.append(event.record(source: source, appendedAt: result.send.appendedAt))
                verifications[verification.id] = verification
                changed.insert(verification.id)
            }
            guard let status = result.disposition.status else { continue }
            let wasOpen = verification.sendOpen
            if late.contains(result.send.claim) {
                settleLate(result, &verification, status, now)
            } else {
                settle(result, &verification, status, now)
            }
            let event = event(result, result.send.requestID, verification, status, now)
            changes.outbox.append(event.record(source: source, appendedAt: result.send.appendedAt))
            if wasOpen, !verification.sendOpen {
                for requestID in verification.waiting {
                    verification.sequence += 1
                    let event = Self.event(result, requestID, verification, status, now)
                    changes.outbox.append(event.record(source: source))
                }
                verification.waiting = []
            }
            verifications[verification.id] = verification
            changed.insert(verification.id)
        }
        changes.verifications = changed.sorted().compactMap { verifications[$0] }
        return changes
    }

    /// True for the claim of a send whose next attempt comes after `patience`; its request gets one event about that.
    private static func isHeldUp(_ result: SendResult, _ verification: StoredVerification, _ now: Timestamp) -> Bool {
        guard case .retry(let delay) = result.disposition, delay > .zero else { return false }
        // While a send is open, its window counts from the request's decision.
        let age = now - (verification.resendAfter - result.send.resendWindow)
        let isFirstWord = age < patience || result.send.fence == 1
        return verification.state == .live && age + delay >= patience && isFirstWord
    }

    /// Settles a send that was `unknown`, as a receipt would: a later send may exist, whose resend window and state are
    /// kept.
    ///
    /// A send that surely never left is refunded, as far as no later send depends on it.
    private static func settleLate(
        _ result: SendResult,
        _ verification: inout StoredVerification,
        _ status: DeliveryStatus,
        _ now: Timestamp
    ) {
        let isNewest = !verification.sendOpen && result.send.number == verification.sendsUsed
        verification.sequence += 1
        if isNewest || !result.disposition.isRefunded { verification.note(status, result.disposition.reason?.word) }
        noteProviders(result, &verification)
        guard result.disposition.isRefunded else { return }
        verification.sendsUsed = max(0, verification.sendsUsed - 1)
        if isNewest { verification.resendAfter = now }
    }

    private static func noteProviders(_ result: SendResult, _ verification: inout StoredVerification) {
        let taker = result.disposition.mayHaveLeft ? result.attempt?.provider : nil
        for provider in UpToTwo(result.doubtful, taker)
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
        verification.note(status, result.disposition.reason?.word)
        noteProviders(result, &verification)
        // A receipt arrives after its send has ended, perhaps while the next one is open.
        if result.disposition == .delivered { return }
        verification.sendOpen = false
        if result.disposition.isRefunded {
            verification.sendsUsed = max(0, verification.sendsUsed - 1)
            verification.resendAfter = now
            return
        }
        verification.resendAfter = now + result.send.resendWindow
        // An expired verification stays expired: its slot may belong to another one.
        let isAlive = verification.state == .live && verification.expiresAt > now
        if let validity = result.send.validity, result.disposition == .sent, isAlive {
            verification.restart(at: now, validity: validity)
        }
    }

    private static func event(
        _ result: SendResult,
        _ requestID: String,
        _ verification: StoredVerification,
        _ status: DeliveryStatus,
        _ now: Timestamp
    ) -> DeliveryEvent {
        let isPending = status == .suppressed
        return DeliveryEvent(
            of: verification,
            requestID: requestID,
            subject: verification.subject,
            status: status,
            reason: isPending ? .suppressed(.sendPending) : result.disposition.reason,
            retryAfter: isPending ? verification.retryAfter(at: now) : nil,
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
            cost: result.cost,
            trace: requestID == result.send.requestID ? result.send.trace : nil,
            policyVersion: verification.policyVersion,
            occurredAt: now
        )
    }
}
