// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

// The life of a verification after its request, and its events.
extension NaiveModel {
    /// Applies an outcome to a send, and returns its event for the send's request and for those that wait for it.
    mutating func settle(_ claim: Claim, _ outcome: SendDisposition, at now: Timestamp) -> [ModelEvent] {
        let status: String
        var reason: String?
        var isRefunded = false
        switch outcome {
        case .sent: status = "sent"
        case .unknown(let why): (status, reason) = ("unknown", why == .timeout ? "timeout" : "worker_lost")
        case .failed(.providerRefused): (status, reason, isRefunded) = ("failed", "provider_refused", true)
        case .failed(.fraudBlocked): (status, reason, isRefunded) = ("failed", "fraud_blocked_by_provider", true)
        case .failed(.optedOut): (status, reason, isRefunded) = ("failed", "opted_out", true)
        case .failed(.providerUnavailable): (status, reason, isRefunded) = ("failed", "provider_unavailable", true)
        case .failed(.noRoute): (status, reason, isRefunded) = ("failed", "no_route", true)
        case .expiredUnsent: (status, reason, isRefunded) = ("expired_unsent", "deadline", true)
        case .retry, .repeatOnce, .delivered: return []
        }
        var current = verifications[claim.verification]
        current.isOpen = false
        current.status = status
        current.reason = reason
        if isRefunded { current.sends = max(0, current.sends - 1) }
        current.resendAfter = isRefunded ? now : now + claim.window
        if outcome == .sent, current.state == "live", current.expiresAt > now, let validity = claim.validity {
            current.expiresAt = now + validity
        }
        current.waiting = []
        let requests = [claim.requestID] + verifications[claim.verification].waiting
        verifications[claim.verification] = current
        return requests.map { request in
            var event = tell(claim.verification, request, status, reason, now)
            event.sendNumber = Int64(claim.number)
            event.sendMax = Int64(current.maxSends)
            return event
        }
    }

    /// Applies a guess, and returns the answer.
    mutating func guess(_ index: Int, isRight: Bool, at now: Timestamp) -> GuessAnswer {
        func answer(_ status: String) -> GuessAnswer {
            GuessAnswer(
                status: status,
                checksLeft: Int32(verifications[index].maxChecks - verifications[index].checks)
            )
        }
        switch verifications[index].state {
        case "approved": return answer("already_approved")
        case "locked": return answer("locked")
        case "expired": return answer("expired")
        default: break
        }
        if now >= verifications[index].expiresAt { return answer("expired") }
        verifications[index].checks += 1
        if isRight {
            verifications[index].state = "approved"
            return answer("approved")
        }
        if verifications[index].checks < verifications[index].maxChecks { return answer("incorrect") }
        verifications[index].state = "locked"
        return answer("locked")
    }

    /// Expires verifications, and returns the events of the unapproved ones.
    mutating func expire(at now: Timestamp) -> [ModelEvent] {
        var events: [ModelEvent] = []
        for (index, current) in verifications.enumerated() {
            guard current.state == "live" || current.state == "locked" else { continue }
            guard now >= current.expiresAt, !current.isOpen else { continue }
            verifications[index].state = "expired"
            verifications[index].status = "expired"
            verifications[index].reason = nil
            events.append(tell(index, current.request.id, "expired", nil, now))
        }
        return events
    }

    /// Makes the next event of a verification.
    mutating func tell(
        _ index: Int,
        _ requestID: String,
        _ status: String,
        _ reason: String?,
        _ now: Timestamp
    ) -> ModelEvent {
        verifications[index].sequence += 1
        let current = verifications[index]
        return ModelEvent(
            requestID: requestID,
            tenant: current.request.tenant,
            status: status,
            reason: reason,
            verification: current.name,
            sequence: current.sequence,
            generation: Int64(current.generation),
            resendAfter: current.resendAfter.rfc3339,
            expiresAt: current.expiresAt.rfc3339,
            sendsLeft: Int64(max(0, current.maxSends - current.sends)),
            isFictional: current.isFictional,
            occurredAt: now.rfc3339
        )
    }

    /// Makes an event without a verification.
    func plain(_ request: ModelRequest, _ status: String, _ reason: String, _ now: Timestamp) -> ModelEvent {
        ModelEvent(
            requestID: request.id,
            tenant: request.tenant,
            status: status,
            reason: reason,
            occurredAt: now.rfc3339
        )
    }

    /// The expected row of a verification, as text.
    func row(_ index: Int) -> String {
        let current = verifications[index]
        let parts: [Any] = [
            current.state, current.status ?? "-", current.sequence, current.generation, current.checks, current.sends,
            current.isOpen ? "open" : "closed", current.resendAfter.microseconds, current.expiresAt.microseconds,
        ]
        return parts.map { "\($0)" }.joined(separator: " ")
    }
}
