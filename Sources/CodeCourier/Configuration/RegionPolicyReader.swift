// SPDX-License-Identifier: Apache-2.0

import SettingsReading
import Verification

/// Reads the region rule of a tenant or of one of its purposes.
enum RegionPolicyReader {
    /// Reads exactly one of the two kinds of rule; regions with contradictory rules are faults.
    static func read(_ value: YAMLValue) -> RegionPolicy? {
        let keys = ["allowByDefault", "allowlistOnly", "confirmedOnlyRegions"]
        guard let mapping = value.mapping(keys: keys) else { return nil }
        let confirmedOnly = mapping["confirmedOnlyRegions"].flatMap(regions) ?? []
        switch (mapping["allowByDefault"], mapping["allowlistOnly"]) {
        case (let open?, nil):
            guard let rule = open.mapping(keys: ["disallowedRegions", "allowedRegions"]) else { return nil }
            let disallowed = rule["disallowedRegions"].flatMap(regions) ?? []
            let named = rule["allowedRegions"].flatMap(regions) ?? []
            refuse(contradictions(confirmedOnly, disallowed), in: mapping, because: "is also disallowed; keep one")
            for region in named.sorted() {
                if ![.international, .unknown].contains(region) {
                    rule["allowedRegions"]?.fault("names \(region), which is allowed by default: name 001 and XX alone")
                } else if disallowed.contains(region) {
                    rule["allowedRegions"]?.fault("contradicts itself: \(region) is also disallowed; keep one")
                }
            }
            return RegionPolicy(
                .allowByDefault(disallowed: disallowed),
                confirmedOnly: confirmedOnly,
                allowedBeyondRegions: named
            )
        case (nil, let closed?):
            guard let rule = closed.mapping(keys: ["allowedRegions"]),
                let allowed = rule.required("allowedRegions", such: "[US, GB]").flatMap(regions)
            else { return nil }
            refuse(
                confirmedOnly.filter { allowed.isDisjoint(with: $0.indistinguishable) },
                in: mapping,
                because: "is not among allowedRegions; add it there"
            )
            return RegionPolicy(.allowlistOnly(allowed: allowed), confirmedOnly: confirmedOnly)
        case (nil, nil):
            value.fault("must state a rule: allowByDefault { disallowedRegions } or allowlistOnly { allowedRegions }")
        case (_?, _?):
            value.fault("states both allowByDefault and allowlistOnly; keep one")
        }
        return nil
    }

    /// The confirmed-only regions that are refused anyway, also by a rule for a region with indistinguishable numbers.
    private static func contradictions(_ confirmedOnly: Set<Region>, _ disallowed: Set<Region>) -> Set<Region> {
        confirmedOnly.filter { !disallowed.isDisjoint(with: $0.indistinguishable) }
    }

    private static func regions(_ value: YAMLValue) -> Set<Region>? {
        guard let elements = value.list(of: "regions") else { return nil }
        var regions: Set<Region> = []
        for element in elements {
            guard let region = region(element) else { continue }
            if !regions.insert(region).inserted { element.fault("names \(region) again; keep one") }
        }
        return regions
    }

    /// One region code; `UK` gets a hint.
    private static func region(_ element: YAMLValue) -> Region? {
        if element.scalarText == "UK" {
            element.fault("must be GB, which is ISO 3166's code of the United Kingdom")
            return nil
        }
        return element.read(.listedRegion)
    }

    private static func refuse(_ regions: Set<Region>, in mapping: YAMLMapping, because reason: String) {
        for region in regions.sorted() {
            mapping["confirmedOnlyRegions"]?.fault("contradicts itself: \(region) \(reason)")
        }
    }
}
