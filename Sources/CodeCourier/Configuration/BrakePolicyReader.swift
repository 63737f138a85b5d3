// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// Reads a tenant's rules for the toll-fraud brake; the policy's type provides the defaults.
enum BrakePolicyReader {
    private static let keys = [
        "mode", "scopes", "regions", "action", "trustedScore", "sensitivity", "minimumApprovals", "block", "allow",
    ]

    static func read(_ value: YAMLValue) -> BrakePolicy {
        var policy = BrakePolicy()
        guard let mapping = value.mapping(keys: keys) else { return policy }
        policy.mode = mapping.read("mode", .brakeMode, default: policy.mode)
        policy.scopes = scopes(mapping)
        policy.regions = regions(mapping)
        _ = mapping["action"]?.read(.brakeAction)
        policy.trustedScore = mapping.read("trustedScore", .number(in: 0...1), default: policy.trustedScore)
        let sensitivity = mapping.read("sensitivity", .number(in: 0.5...2), default: policy.rules.sensitivity)
        policy.rules.sensitivity = sensitivity
        let approvals = mapping.read("minimumApprovals", .integer(in: 1...1_000_000), default: policy.minimumApprovals)
        policy.minimumApprovals = approvals
        readBlock(mapping, &policy.rules)
        readAllowed(mapping, &policy)
        return policy
    }

    private static func scopes(_ mapping: YAMLMapping) -> [BrakeScope: BrakePolicy.Mode] {
        guard let scopes = mapping["scopes"]?.mapping(keys: BrakeScope.allCases.map(\.word)) else { return [:] }
        var modes: [BrakeScope: BrakePolicy.Mode] = [:]
        for scope in BrakeScope.allCases { modes[scope] = scopes[scope.word]?.read(.brakeMode) }
        return modes
    }

    private static func regions(_ mapping: YAMLMapping) -> [Region: BrakePolicy.Mode] {
        let entries = mapping["regions"]?.entries(.brakeRegion, called: "a region") ?? []
        var modes: [Region: BrakePolicy.Mode] = [:]
        for (region, value) in entries { modes[region] = value.read(.brakeMode) }
        return modes
    }

    private static func readBlock(_ mapping: YAMLMapping, _ rules: inout BrakeRules) {
        guard let block = mapping["block"]?.mapping(keys: ["first", "longest"]) else { return }
        let bounds = Duration.seconds(60)...Duration.seconds(86_400)
        rules.firstBlock = block.read("first", .duration(in: bounds), default: rules.firstBlock)
        rules.longestBlock = block.read("longest", .duration(in: bounds), default: rules.longestBlock)
        if rules.longestBlock < rules.firstBlock {
            let first = DurationText.format(rules.firstBlock)
            (block["longest"] ?? block["first"])?.fault("must not be shorter than the first block (\(first))")
        }
    }

    private static func readAllowed(_ mapping: YAMLMapping, _ policy: inout BrakePolicy) {
        guard let allow = mapping["allow"]?.mapping(keys: ["cidrs", "prefixes"]) else { return }
        policy.allowedNetworks = allow["cidrs"]?.list(of: "networks", .network) ?? []
        // At least a calling code and two digits: fewer would switch the brake off for whole countries.
        let prefix = ValueRule.numberPrefix(of: 4...15, such: "+4479110012")
        policy.allowedPrefixes = allow["prefixes"]?.list(of: "prefixes", prefix) ?? []
    }
}

extension ValueRule where Value == BrakePolicy.Mode {
    /// A mode of the brake; some editors write `off` as the boolean `false`.
    fileprivate static var brakeMode: Self {
        Self(requirement: "must be one of off, record, enforce") { text in
            text == "false" ? .off : BrakePolicy.Mode(rawValue: text)
        }
    }
}

extension ValueRule where Value == String {
    /// The only action: blocked requests are refused.
    fileprivate static var brakeAction: Self {
        Self(requirement: "must be refuse; to divert to another channel is not available") { text in
            text == "refuse" ? text : nil
        }
    }

    /// The first digits of phone numbers, after a `+`.
    static func numberPrefix(of count: ClosedRange<Int>, such example: String) -> Self {
        let digits = "\(count.lowerBound) to \(count.upperBound) digits"
        return Self(requirement: "must be + and \(digits), the first not 0, such as \"\(example)\"") { text in
            let digits = text.utf8.dropFirst()
            let isNumber = text.utf8.first == UInt8(ascii: "+") && count.contains(digits.count)
            let isPrefix = digits.first != UInt8(ascii: "0") && digits.allSatisfy(\.isASCIIDigit)
            return isNumber && isPrefix ? text : nil
        }
    }
}

extension ValueRule where Value == IPNetwork {
    fileprivate static var network: Self {
        Self(requirement: "must be a network such as 203.0.113.0/24 or 2001:db8::/32, IPv6 up to /64") {
            IPNetwork($0)
        }
    }
}

extension ValueRule where Value == Region {
    /// A region as events show it: numbers of no region count as `XX`.
    fileprivate static var brakeRegion: Self {
        Self(requirement: "\(region.requirement), or XX for numbers of no region") { text in
            text == Region.unknown.code ? .unknown : region.parse(text)
        }
    }
}
