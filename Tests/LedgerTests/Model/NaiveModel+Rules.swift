// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

// The rules that refuse a single request by its content, and the limits.
extension NaiveModel {
    /// The reason of the first rule about tenant, shape or number that refuses the request, or nil.
    func earlyReason(_ request: ModelRequest, _ now: Timestamp) -> String? {
        guard policy.tenants[request.tenant] != nil else { return "unknown_tenant" }
        switch request.realFault {
        case .phoneNumber?: return "invalid_phone_number"
        case .purpose?, .subject?, .future?: return "invalid_request"
        case nil: break
        }
        return isFictional(request, now) || request.line.isValid ? nil : "invalid_phone_number"
    }

    /// The status and reason of the first refusing rule after the request id check, or nil.
    func refusal(_ request: ModelRequest, _ now: Timestamp) -> (status: String, reason: String)? {
        if now - request.requestedAt > .seconds(300) { return ("expired_unsent", "stale_request") }
        if let deadline = request.deadline, now >= deadline { return ("expired_unsent", "deadline") }
        guard let tenant = policy.tenants[request.tenant], !isFictional(request, now) else { return nil }
        if tenant.appVerification == .off { return ("rejected", "test_number_only") }
        return (region(request, tenant) ?? type(request, tenant) ?? app(request, tenant)).map { ("rejected", $0) }
    }

    func isFictional(_ request: ModelRequest, _ now: Timestamp) -> Bool {
        for number in policy.tenants[request.tenant]?.testNumbers ?? [] where number.number.e164 == request.number {
            guard let until = number.until else { return true }
            return now < until
        }
        return false
    }

    private func region(_ request: ModelRequest, _ tenant: TenantPolicy) -> String? {
        let rule = tenant.purposeRegions[request.purpose] ?? tenant.regions
        let regions = request.line.regions
        // The model's policies name no rule for a number without a region.
        if regions.isEmpty { return "region_not_allowed" }
        for region in regions {
            switch rule.base {
            case .allowByDefault(let disallowed):
                for other in disallowed where other.code == region { return "region_not_allowed" }
            case .allowlistOnly(let allowed):
                var isAllowed = false
                for other in allowed where other.code == region { isAllowed = true }
                if !isAllowed { return "region_not_allowed" }
            }
        }
        for region in regions where !request.isConfirmed {
            for other in rule.confirmedOnly where other.code == region { return "region_confirmed_only" }
        }
        return nil
    }

    private func type(_ request: ModelRequest, _ tenant: TenantPolicy) -> String? {
        switch request.line.type {
        case .mobile, .fixedLineOrMobile: nil
        case .voip: tenant.voip == .refuse ? "number_type_not_allowed" : nil
        default: "number_type_not_allowed"
        }
    }

    private func app(_ request: ModelRequest, _ tenant: TenantPolicy) -> String? {
        guard case .on(let isRequired, let minimumScore) = tenant.appVerification else { return nil }
        guard let shown = request.shown else { return isRequired ? "app_verification_required" : nil }
        if shown.verdict == "fail" { return "app_verification_failed" }
        if let score = shown.score, score < minimumScore { return "app_verification_failed" }
        guard isRequired else { return nil }
        return shown.method != "none" && shown.verdict == "pass" ? nil : "app_verification_required"
    }

    /// The first moment at which no limit refuses the request, or at the latest for a tenant's limit.
    func opening(_ request: ModelRequest, _ now: Timestamp) -> Timestamp {
        guard let limits = policy.tenants[request.tenant]?.limits else { return now }
        let own = admissions.filter { $0.tenant == request.tenant }
        func opening(_ limits: [RateLimit], _ mine: [Admission]) -> Timestamp {
            let ends = mine.flatMap { admission in limits.map { admission.time + $0.per } }
            let moments = ([now] + ends.filter { $0 > now }).sorted()
            return moments.first { moment in
                limits.allSatisfy { limit in mine.count { moment - $0.time < limit.per } < limit.count }
            } ?? now
        }
        var end = opening(limits.perRecipient, own.filter { $0.number == request.number })
        if let ip = request.ip { end = max(end, opening(limits.perIP, own.filter { $0.ip == ip })) }
        if let account = request.account {
            end = max(end, opening(limits.perSubject, own.filter { $0.account == account }))
        }
        if let device = request.device {
            end = max(end, opening(limits.perDevice, own.filter { $0.device == device }))
        }
        for limit in limits.perTenant where own.count(where: { now - $0.time < limit.per }) >= limit.count {
            end = max(end, now + limit.per)
        }
        return end
    }

    /// The reason of the first limit that one more send would exceed.
    ///
    /// If there is none, the send is counted.
    mutating func quota(_ request: ModelRequest, _ isFictional: Bool, _ now: Timestamp) -> String? {
        guard !isFictional, let limits = policy.tenants[request.tenant]?.limits else { return nil }
        let own = admissions.filter { $0.tenant == request.tenant }
        func isFull(_ limits: [RateLimit], _ counts: (Admission) -> Bool) -> Bool {
            limits.contains { limit in own.count { counts($0) && now - $0.time < limit.per } >= limit.count }
        }
        if isFull(limits.perRecipient, { $0.number == request.number }) { return "quota_recipient" }
        if let ip = request.ip, isFull(limits.perIP, { $0.ip == ip }) { return "quota_ip" }
        if let account = request.account, isFull(limits.perSubject, { $0.account == account }) {
            return "quota_subject"
        }
        if let device = request.device, isFull(limits.perDevice, { $0.device == device }) { return "quota_device" }
        if isFull(limits.perTenant, { _ in true }) { return "quota_tenant" }
        admissions.append(Admission(request, at: now))
        return nil
    }
}
