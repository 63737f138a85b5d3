// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

extension TenantReader {
    /// The form of a code; values weaker than NIST SP 800-63B-4 need an explicit switch.
    func code() -> CodePolicy {
        var policy = CodePolicy()
        let keys = ["length", "validity", "maxChecks", "allowShortCodes", "allowLongValidity"]
        guard let mapping = mapping["code"]?.mapping(keys: keys) else { return policy }
        let allowShort = mapping.read("allowShortCodes", .boolean, default: false)
        let allowLong = mapping.read("allowLongValidity", .boolean, default: false)
        policy.length = mapping.read("length", .integer(in: 4...10), default: policy.length)
        if policy.length < 6, !allowShort {
            mapping["length"]?.fault("must be at least 6, unless `allowShortCodes: true` stands beside it")
        }
        let bounds = Duration.seconds(1)...Duration.seconds(86_400)
        policy.validity = mapping.read("validity", .duration(in: bounds), default: policy.validity)
        if policy.validity > .seconds(600), !allowLong {
            mapping["validity"]?.fault("must be at most 10m, unless `allowLongValidity: true` stands beside it")
        }
        policy.maxChecks = mapping.read("maxChecks", .integer(in: 1...5), default: policy.maxChecks)
        return policy
    }

    /// The rule for further messages to the same person.
    ///
    /// With a validity below 4 min, `sameCodeWhileLeft` defaults to half of it: at the whole validity or more, each
    /// message would have a new code.
    func resend(validity: Duration) -> ResendPolicy {
        var policy = ResendPolicy()
        policy.sameCodeWhileLeft = min(policy.sameCodeWhileLeft, validity / 2)
        guard let mapping = mapping["resend"]?.mapping(keys: ["windows", "sameCodeWhileLeft"]) else { return policy }
        if let windows = mapping["windows"] {
            let bounds = Duration.milliseconds(1)...Duration.seconds(86_400)
            if let read = windows.list(of: "durations", .duration(in: bounds)) { policy.windows = read }
            if windows.isEmptyList { windows.fault("must have at least one window, such as [60s]") }
            if policy.windows.count > 20 { windows.fault("must have at most 20 windows") }
        }
        if let left = mapping["sameCodeWhileLeft"], let read = left.read(.duration(in: .zero...DurationText.longest)) {
            policy.sameCodeWhileLeft = read
        }
        return policy
    }

    /// The app verification that a request needs; the scalar `off` (in YAML also a boolean) disables it.
    func appVerification() -> AppVerificationPolicy {
        let fallback = AppVerificationPolicy.on(required: false, minimumScore: 0.5)
        guard let value = mapping["appVerification"] else { return fallback }
        if let text = value.scalarText {
            if ["off", "false"].contains(text.lowercased()) { return .off }
            value.fault("must be off, or a mapping such as { required: false, minimumScore: 0.5 }")
            return fallback
        }
        guard let mapping = value.mapping(keys: ["required", "minimumScore"]) else { return fallback }
        return .on(
            required: mapping.read("required", .boolean, default: false),
            minimumScore: mapping.read("minimumScore", .number(in: 0...1), default: 0.5)
        )
    }

    /// The sliding windows; a given list replaces its default, and an empty one disables the limit.
    func limits() -> LimitPolicy {
        var policy = LimitPolicy()
        let scopes = LimitKey.Scope.allCases
        guard let mapping = mapping["limits"]?.mapping(keys: scopes.map(\.setting) + ["perTenant"]) else {
            return policy
        }
        for scope in scopes {
            if let value = mapping[scope.setting] { policy[scope] = rateLimits(value) }
        }
        if let value = mapping["perTenant"] { policy.perTenant = rateLimits(value) }
        return policy
    }

    private func rateLimits(_ value: YAMLValue) -> [RateLimit] {
        let elements = value.list(of: "limits `{ count: 2, per: 10s }`") ?? []
        return elements.compactMap { element in
            guard let mapping = element.mapping(keys: ["count", "per"]) else { return nil }
            let count = mapping.required("count", such: "10")?.read(.integer(in: 1...1_000_000_000))
            let bounds = Duration.milliseconds(1)...DurationText.longest
            guard let per = mapping.required("per", such: "1h")?.read(.duration(in: bounds)), let count else {
                return nil
            }
            return RateLimit(count: count, per: per)
        }
    }
}
