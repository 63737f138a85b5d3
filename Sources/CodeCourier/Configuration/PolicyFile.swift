// SPDX-License-Identifier: Apache-2.0

import SettingsReading
import Verification

/// The policy file: the operator's versioned rules, accepted or rejected as a whole.
///
/// Unknown keys, contradictions and routes to providers that do not exist are faults, because a rule that is silently
/// missing is noticed only on an invoice.
enum PolicyFile {
    /// Reads a policy.
    ///
    /// `providers` are the configured providers by name, each with its channel, to which the routes must lead; nil
    /// skips that check, as when a policy is examined without the configuration.
    static func load(path: String, providers: [String: Channel]? = nil) -> Result<Policy, ConfigurationFaults> {
        do throws(TextFile.Unreadable) {
            let text = try TextFile.read(path, maximumBytes: YAMLDocument.maximumBytes)
            return parse(text, file: path, providers: providers)
        } catch {
            let faults = FaultCollector(file: path)
            faults.report(line: nil, key: "", error.reason)
            return faults.result(nil)
        }
    }

    /// Parses a policy from its text; `file` is its name in faults.
    static func parse(
        _ text: String,
        file: String,
        providers: [String: Channel]? = nil
    ) -> Result<Policy, ConfigurationFaults> {
        let faults = FaultCollector(file: file)
        let root = YAMLDocument.parse(text, faults: faults)
        return faults.result(
            root?.mapping(keys: ["version", "numberPlan", "prices", "tenants"]).flatMap {
                policy($0, providers: providers)
            }
        )
    }

    private static func policy(_ root: YAMLMapping, providers: [String: Channel]?) -> Policy? {
        let version = root.required("version", such: "\"2026-11-20.1\"")?.read(.text(upTo: 64))
        let numberPlan = root["numberPlan"].map(NumberPlanReader.read) ?? NumberPlan()
        let prices = root["prices"].flatMap { PricesReader.read($0, providers: providers) }
        let tenants = root.required("tenants", such: "{ default: { … } }")
        guard let entries = tenants?.entries(.name(upTo: 64), called: "a tenant") else { return nil }
        if tenants?.isEmptyMapping == true { tenants?.fault("must have at least one tenant, such as default") }
        var policies: [String: TenantPolicy] = [:]
        for (name, value) in entries {
            policies[name] = TenantReader.read(value, providers: providers, prices: prices)
        }
        return version.map { Policy(version: $0, tenants: policies, numberPlan: numberPlan, prices: prices) }
    }
}
