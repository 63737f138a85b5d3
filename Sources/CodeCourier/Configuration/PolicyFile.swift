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
        parse(PolicyText(path: path), providers: providers)
    }

    /// Parses a policy from its text; `file` is its name in faults.
    static func parse(
        _ text: String,
        file: String,
        providers: [String: Channel]? = nil
    ) -> Result<Policy, ConfigurationFaults> {
        parse(PolicyText(.success(text), file: file), providers: providers)
    }

    /// Parses a policy from its text and that of its prices.
    static func parse(_ content: PolicyText, providers: [String: Channel]?) -> Result<Policy, ConfigurationFaults> {
        let faults = FaultCollector(file: content.file)
        switch content.text {
        case .failure(let unreadable):
            faults.report(line: nil, key: "", unreadable.reason)
            return faults.result(nil)
        case .success(let text):
            let root = YAMLDocument.parse(text, faults: faults)
            let mapping = root?.mapping(keys: ["version", "numberPlan", "prices", "tenants"])
            return faults.result(mapping.flatMap { policy($0, content.prices, faults, providers) })
        }
    }

    private static func policy(
        _ root: YAMLMapping,
        _ pricesFile: PolicyText.Prices?,
        _ faults: FaultCollector,
        _ providers: [String: Channel]?
    ) -> Policy? {
        let version = root.required("version", such: "\"2026-11-20.1\"")?.read(.text(upTo: 64))
        let numberPlan = root["numberPlan"].map(NumberPlanReader.read) ?? NumberPlan()
        let prices = root["prices"].flatMap { PricesReader.read($0, in: pricesFile, faults, providers: providers) }
        let tenants = root.required("tenants", such: "{ default: { … } }")
        guard let entries = tenants?.entries(.name(upTo: 64), called: "a tenant") else { return nil }
        if tenants?.isEmptyMapping == true { tenants?.fault("must have at least one tenant, such as default") }
        // With a fault in the prices, those that seem to be missing may only be unreadable.
        let places = BudgetsReader.Prices(table: prices, file: pricesFile?.path, areStated: root["prices"] != nil)
        var policies: [String: TenantPolicy] = [:]
        for (name, value) in entries {
            policies[name] = TenantReader.read(value, providers: providers, prices: places)
        }
        return version.map { Policy(version: $0, tenants: policies, numberPlan: numberPlan, prices: prices) }
    }
}

/// The text of a policy file, and that of the file with its prices.
struct PolicyText {
    typealias Content = Result<String, TextFile.Unreadable>

    struct Prices {
        let path: String
        let text: Content
    }

    let file: String
    let text: Content

    /// Nil where the policy names no file of prices.
    let prices: Prices?

    init(path: String) {
        self.init(Self.read(path), file: path)
    }

    /// Reads the file that a policy names by `prices.path`, which begins at the folder of the policy.
    init(_ text: Content, file: String) {
        self.file = file
        self.text = text
        let faults = FaultCollector(file: file)
        let stated = try? YAMLDocument.parse(text.get(), faults: faults)?.peek("prices")?.peek("path")?.scalarText
        guard let stated, !stated.isEmpty else {
            prices = nil
            return
        }
        let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        let path = stated.hasPrefix("/") ? stated : folder + stated
        prices = Prices(path: path, text: Self.read(path))
    }

    private static func read(_ path: String) -> Content {
        do throws(TextFile.Unreadable) {
            return .success(try TextFile.read(path, maximumBytes: YAMLDocument.maximumBytes))
        } catch {
            return .failure(error)
        }
    }
}

extension PolicyText: Equatable {
    /// Texts are equal by their bytes: two forms of one letter are a change.
    static func == (left: PolicyText, right: PolicyText) -> Bool {
        left.file == right.file && isSame(left.text, right.text) && left.prices?.path == right.prices?.path
            && isSame(left.prices?.text ?? .success(""), right.prices?.text ?? .success(""))
    }

    private static func isSame(_ left: Content, _ right: Content) -> Bool {
        switch (left, right) {
        case (.success(let left), .success(let right)): left.utf8.elementsEqual(right.utf8)
        case (.failure(let left), .failure(let right)): left.reason == right.reason
        case (.success, .failure), (.failure, .success): false
        }
    }
}
