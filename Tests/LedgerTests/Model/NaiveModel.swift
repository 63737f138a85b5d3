// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Restates the rules as loops over all past events, one request at a time.
///
/// It shares no code with the implementation: it has no windows, slots or counters, and forgets nothing. From the
/// policy it reads the operator's values only.
struct NaiveModel: Sendable {
    struct Verification: Sendable {
        let name: String
        let request: ModelRequest
        let isFictional: Bool
        let maxSends: Int
        let maxChecks: Int
        var state = "live"
        var status: String?
        var reason: String?
        var sequence: Int64 = 0
        var generation = 1
        var checks = 0
        var sends = 0
        var isOpen = true
        var waiting: [String] = []
        var resendAfter: Timestamp
        var expiresAt: Timestamp
    }

    /// A send that results from a request.
    struct Claim: Sendable, Equatable {
        let verification: Int
        let requestID: String
        let number: Int
        let generation: Int
        let window: Duration

        /// The validity of a new code, or nil when the send repeats a code.
        let validity: Duration?
        let deadline: Timestamp
        let isFictional: Bool
    }

    enum Verdict: Sendable {
        case nothing
        case event(ModelEvent)
        case send(Claim)
    }

    struct Answer: Sendable {
        let tenant: String
        let id: String
        let payload: String
        let verification: Int?
        let status: String?
        let reason: String?
    }

    struct Admission: Sendable {
        let tenant: String
        let number: String
        let ip: String?
        let account: String?
        let device: String?
        let time: Timestamp

        init(_ request: ModelRequest, at time: Timestamp) {
            tenant = request.tenant
            number = request.number
            ip = request.ip
            account = request.account
            device = request.device
            self.time = time
        }
    }

    /// Prefix of the verifications' names.
    let name: String
    let policy: Policy
    var verifications: [Verification] = []
    var admissions: [Admission] = []
    private var answers: [Answer] = []
    private var places: [(partition: Int32, offset: Int64)] = []

    init(name: String, policy: Policy) {
        self.name = name
        self.policy = policy
    }

    mutating func decide(_ record: ModelRecord, at now: Timestamp) -> Verdict {
        if places.contains(where: { $0.partition == record.partition && $0.offset == record.offset }) {
            return .nothing
        }
        places.append((record.partition, record.offset))
        let request = record.request
        let early = earlyReason(request, now)
        for answer in answers where answer.tenant == request.tenant && answer.id == request.id {
            if let early { return .event(plain(request, "rejected", early, now)) }
            return again(request, answer, now)
        }
        if let early { return refuse(request, "rejected", early, now) }
        if let (status, reason) = refusal(request, now) { return refuse(request, status, reason, now) }
        return slot(request, isFictional(request, now), now)
    }

    private mutating func again(_ request: ModelRequest, _ answer: Answer, _ now: Timestamp) -> Verdict {
        if answer.payload != request.payload {
            return .event(plain(request, "rejected", "request_id_conflict", now))
        }
        guard let index = answer.verification else {
            var event = plain(request, answer.status ?? "", "duplicate_request", now)
            event.originalReason = answer.reason
            return .event(event)
        }
        let status = verifications[index].status ?? "suppressed"
        var event = tell(index, request.id, answer.status ?? status, "duplicate_request", now)
        event.originalReason = answer.reason ?? verifications[index].reason
        if answer.reason == "send_pending", !verifications[index].isOpen {
            event.originalReason = verifications[index].reason
        }
        return .event(event)
    }

    private mutating func slot(_ request: ModelRequest, _ isFictional: Bool, _ now: Timestamp) -> Verdict {
        let newest = verifications.lastIndex { verification in
            verification.request.tenant == request.tenant && verification.request.purpose == request.purpose
                && verification.request.number == request.number
        }
        if let newest, verifications[newest].expiresAt > now {
            let current = verifications[newest]
            if current.state == "locked", !isFictional {
                return refuse(request, of: newest, "locked", until: current.expiresAt, now)
            }
            if current.state == "live", current.isFictional == isFictional {
                if current.isOpen {
                    answered(request, newest, "send_pending")
                    if current.waiting.count < 8 { verifications[newest].waiting.append(request.id) }
                    var event = tell(newest, request.id, "suppressed", "send_pending", now)
                    event.retryAfter = max(current.resendAfter, now + .seconds(5)).rfc3339
                    return .event(event)
                }
                if now < current.resendAfter {
                    answered(request, newest, "resend_window")
                    var event = tell(newest, request.id, "suppressed", "resend_window", now)
                    event.retryAfter = current.resendAfter.rfc3339
                    return .event(event)
                }
                if !isFictional, current.sends >= current.maxSends {
                    return refuse(request, of: newest, "max_sends", until: current.expiresAt, now)
                }
                if let reason = quota(request, isFictional, now) {
                    return refuse(request, of: newest, reason, until: opening(request, now), now)
                }
                return resend(newest, request, now)
            }
        }
        if let reason = quota(request, isFictional, now) {
            return refuse(request, "rejected", reason, until: opening(request, now), now)
        }
        return begin(request, isFictional, now)
    }

    private mutating func begin(_ request: ModelRequest, _ isFictional: Bool, _ now: Timestamp) -> Verdict {
        guard let tenant = policy.tenants[request.tenant] else { return .nothing }
        verifications.append(
            Verification(
                name: "\(name)v\(verifications.count)",
                request: request,
                isFictional: isFictional,
                maxSends: tenant.resend.windows.count + 1,
                maxChecks: tenant.code.maxChecks,
                resendAfter: now,
                expiresAt: now + tenant.code.validity
            )
        )
        return send(verifications.count - 1, request, validity: tenant.code.validity, now)
    }

    private mutating func resend(_ index: Int, _ request: ModelRequest, _ now: Timestamp) -> Verdict {
        guard let tenant = policy.tenants[request.tenant] else { return .nothing }
        let left = verifications[index].expiresAt - now
        if !verifications[index].isFictional, left >= tenant.resend.sameCodeWhileLeft {
            if verifications[index].sends > 0 { return send(index, request, validity: nil, now) }
            // No message with this code has left yet, and a code's validity starts with its first message.
            verifications[index].expiresAt = now + tenant.code.validity
            return send(index, request, validity: tenant.code.validity, now)
        }
        verifications[index].generation += 1
        verifications[index].checks = 0
        verifications[index].expiresAt = now + tenant.code.validity
        return send(index, request, validity: tenant.code.validity, now)
    }

    private mutating func send(
        _ index: Int,
        _ request: ModelRequest,
        validity: Duration?,
        _ now: Timestamp
    ) -> Verdict {
        answered(request, index)
        var current = verifications[index]
        let number = min(current.sends + 1, current.maxSends)
        let windows = current.isFictional ? [] : policy.tenants[request.tenant]?.resend.windows ?? []
        let window =
            windows.isEmpty ? .zero : number <= windows.count ? windows[number - 1] : windows[windows.count - 1]
        current.sends = number
        current.isOpen = true
        current.resendAfter = now + window
        verifications[index] = current
        var deadline = min(request.requestedAt + .seconds(300), current.expiresAt)
        if let asked = request.deadline, asked < deadline { deadline = asked }
        return .send(
            Claim(
                verification: index,
                requestID: request.id,
                number: number,
                generation: current.generation,
                window: window,
                validity: validity,
                deadline: deadline,
                isFictional: current.isFictional
            )
        )
    }

    private mutating func refuse(
        _ request: ModelRequest,
        _ status: String,
        _ reason: String,
        until end: Timestamp? = nil,
        _ now: Timestamp
    ) -> Verdict {
        answers.append(
            Answer(
                tenant: request.tenant,
                id: request.id,
                payload: request.payload,
                verification: nil,
                status: status,
                reason: reason
            )
        )
        var event = plain(request, status, reason, now)
        event.retryAfter = end?.rfc3339
        return .event(event)
    }

    /// Refuses a request by the state of a verification.
    private mutating func refuse(
        _ request: ModelRequest,
        of index: Int,
        _ reason: String,
        until end: Timestamp,
        _ now: Timestamp
    ) -> Verdict {
        answered(request, index, reason, "rejected")
        var event = tell(index, request.id, "rejected", reason, now)
        event.retryAfter = end.rfc3339
        return .event(event)
    }

    private mutating func answered(
        _ request: ModelRequest,
        _ index: Int,
        _ reason: String? = nil,
        _ status: String? = nil
    ) {
        answers.append(
            Answer(
                tenant: request.tenant,
                id: request.id,
                payload: request.payload,
                verification: index,
                status: status,
                reason: reason
            )
        )
    }
}
