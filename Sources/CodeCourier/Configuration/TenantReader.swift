// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// Reads one tenant of the policy file; the policy's types provide the defaults.
struct TenantReader {
    private static let keys = [
        "appName", "defaultLanguage", "regions", "purposes", "numberTypes", "appVerification", "code", "resend",
        "limits", "testNumbers", "emailLinks", "autofill", "routes", "messages", "brake", "budgets",
    ]

    let mapping: YAMLMapping
    let providers: [String: Channel]?
    let prices: BudgetsReader.Prices

    /// The rules of a tenant; nil when a part without a default is missing or invalid.
    static func read(
        _ value: YAMLValue,
        providers: [String: Channel]?,
        prices: BudgetsReader.Prices
    ) -> TenantPolicy? {
        guard let mapping = value.mapping(keys: keys) else { return nil }
        return Self(mapping: mapping, providers: providers, prices: prices).policy()
    }

    private func policy() -> TenantPolicy? {
        let appName = mapping.required("appName", such: "Acme")?.read(.appName)
        let language = mapping.read("defaultLanguage", .language, default: "en")
        let regions = mapping.required("regions", such: "{ allowlistOnly: { allowedRegions: [US] } }")
        let regionPolicy = regions.flatMap(RegionPolicyReader.read)
        let code = code()
        let routes = mapping.required("routes", such: "{ default: [main] }").flatMap {
            RoutesReader.read($0, providers: providers)
        }
        let purposes = purposes()
        let policy = TenantPolicy(
            appName: appName ?? "",
            defaultLanguage: language,
            regions: regionPolicy ?? RegionPolicy(.allowlistOnly(allowed: [])),
            purposeRegions: purposes,
            code: code,
            resend: resend(validity: code.validity),
            voip: voip(),
            appVerification: appVerification(),
            limits: limits(),
            testNumbers: mapping["testNumbers"].map(TestNumbersReader.read) ?? [],
            emailLinks: emailLinks(),
            autofill: autofill(),
            routes: routes ?? Routes(fallback: []),
            messages: mapping["messages"].map(MessagesReader.read) ?? MessagePolicy(),
            brake: mapping["brake"].map(BrakePolicyReader.read) ?? BrakePolicy(),
            budgets: mapping["budgets"].map { BudgetsReader.read($0, prices: prices) } ?? []
        )
        if routes != nil, regionPolicy != nil { BudgetsReader.checkPrices(of: policy, prices, mapping["budgets"]) }
        if appName != nil { checkMessages(of: policy) }
        return appName == nil || regionPolicy == nil || routes == nil ? nil : policy
    }

    private func purposes() -> [Purpose: RegionPolicy] {
        let known = Purpose.allCases.map(\.rawValue)
        guard let mapping = mapping["purposes"]?.mapping(keys: known) else { return [:] }
        var policies: [Purpose: RegionPolicy] = [:]
        for purpose in Purpose.allCases {
            guard let rules = mapping[purpose.rawValue]?.mapping(keys: ["regions"]) else { continue }
            let regions = rules.required("regions", such: "{ allowByDefault: { disallowedRegions: [] } }")
            policies[purpose] = regions.flatMap(RegionPolicyReader.read)
        }
        return policies
    }

    private func voip() -> VoIPRule {
        mapping["numberTypes"]?.mapping(keys: ["voip"])?.read("voip", .voip, default: .record) ?? .record
    }

    private func emailLinks() -> EmailLinkPolicy {
        var policy = EmailLinkPolicy()
        guard let mapping = mapping["emailLinks"]?.mapping(keys: ["authorizedDomains", "validity", "path"]) else {
            return policy
        }
        let bounds = Duration.seconds(1)...Duration.seconds(86_400)
        policy.validity = mapping.read("validity", .duration(in: bounds), default: policy.validity)
        policy.authorizedDomains = mapping.distinct("authorizedDomains", "a domain", of: "host names", .domain)
        policy.path = mapping.read("path", .linkPath, default: policy.path)
        return policy
    }

    /// The allowed autofill domains and app hashes; a missing list allows none, and only the absence of the whole key
    /// allows all.
    private func autofill() -> AutofillPolicy? {
        guard let value = mapping["autofill"] else { return nil }
        guard let mapping = value.mapping(keys: ["domains", "androidAppHashes"]) else { return AutofillPolicy() }
        return AutofillPolicy(
            domains: mapping.distinct("domains", "a domain", of: "host names", .hostName),
            androidAppHashes: mapping.distinct("androidAppHashes", "a hash", of: "hashes", .androidAppHash)
        )
    }
}

extension YAMLMapping {
    /// The values of a list without duplicates; `noun` names one of them in faults.
    fileprivate func distinct(
        _ key: String,
        _ noun: String,
        of elements: String,
        _ rule: ValueRule<String>
    ) -> [String] {
        guard let value = self[key], let values = value.list(of: elements, rule) else { return [] }
        if Set(values).count < values.count { value.fault("names \(noun) more than once; keep one") }
        return values
    }
}

extension ValueRule where Value == String {
    /// The domain of a request's autofill, in lower case.
    fileprivate static var hostName: Self {
        Self(requirement: "must be a host name such as example.com") { HostName($0)?.text }
    }

    fileprivate static var androidAppHash: Self {
        Self(requirement: "must be 11 letters, digits, + or /, such as FA+9qCX9VSu") { text in
            RequestAutofill.isAppHash(text) ? text : nil
        }
    }
}

extension ValueRule where Value == String {
    /// A path of unreserved characters of RFC 3986, section 2.3, which no mail program changes.
    fileprivate static var linkPath: Self {
        Self(requirement: "must be a path such as /auth/action, of letters, digits, /, -, ., _ and ~") { text in
            let isPath = text.utf8.first == UInt8(ascii: "/") && text.utf8.count <= 200 && !text.contains("//")
            let marks = Array("/-._~".utf8)
            return isPath && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || marks.contains($0) } ? text : nil
        }
    }
}

extension ValueRule where Value == VoIPRule {
    fileprivate static var voip: Self {
        Self(requirement: "must be one of allow, record, refuse") { VoIPRule(rawValue: $0) }
    }
}
