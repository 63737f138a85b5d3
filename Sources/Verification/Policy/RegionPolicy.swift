// SPDX-License-Identifier: Apache-2.0

/// Which regions a tenant's messages may go to.
///
/// Where mobile numbers do not tell regions apart, a rule on one of them counts for all: who refuses MF refuses the
/// mobiles of GP, and who allows NO allows those of SJ.
package struct RegionPolicy: Sendable, Equatable {
    /// Exactly one of the two ways to state a policy.
    package enum Base: Sendable, Equatable {
        /// Every region but these.
        case allowByDefault(disallowed: Set<Region>)

        /// These regions only.
        case allowlistOnly(allowed: Set<Region>)
    }

    package var base: Base

    /// Regions to which messages go only when the account has proved the recipient before.
    package var confirmedOnly: Set<Region>

    /// Of `001` and `XX`, those that a policy that allows by default lets through.
    ///
    /// Numbers of satellite and international networks are dear and nobody's home: they are refused unless a list names
    /// them.
    package var allowedBeyondRegions: Set<Region>

    package init(_ base: Base, confirmedOnly: Set<Region> = [], allowedBeyondRegions: Set<Region> = []) {
        self.base = base
        self.confirmedOnly = confirmedOnly
        self.allowedBeyondRegions = allowedBeyondRegions
    }

    /// The reason to refuse a number and the rule that says so, or nil when the policy lets it through.
    ///
    /// A number with several candidate regions is denied when any of them is.
    package func refusal(of facts: NumberFacts, confirmed: Bool) -> RegionRefusal? {
        let hasCandidates = facts.candidates.contains { $0 != .unknown }
        if !hasCandidates, facts.region == .unknown {
            return refusal(beyondRegions: facts.isValid ? .international : .unknown, confirmed)
        }
        func hold(_ condition: (Region) -> Bool) -> Bool {
            guard hasCandidates else { return condition(facts.region) }
            return facts.candidates.allSatisfy { $0 == .unknown || condition($0) }
        }
        guard hold(allows) else { return RegionRefusal(.regionNotAllowed) }
        return confirmed || hold { !$0.isNamed(in: confirmedOnly) } ? nil : RegionRefusal(.regionConfirmedOnly)
    }

    private func allows(_ region: Region) -> Bool {
        switch base {
        case .allowByDefault(let disallowed): !region.isNamed(in: disallowed)
        case .allowlistOnly(let allowed): region.isNamed(in: allowed)
        }
    }

    /// Decides a number of no region: `XX` in a list stands for international networks, too, since events show them so.
    private func refusal(beyondRegions place: Region, _ isConfirmed: Bool) -> RegionRefusal? {
        let names: Set<Region> = [place, .unknown]
        let (allowed, disallowed): (Set<Region>, Set<Region>) =
            switch base {
            case .allowByDefault(let disallowed): (allowedBeyondRegions, disallowed)
            case .allowlistOnly(let allowed): (allowed, [])
            }
        guard disallowed.isDisjoint(with: names) else { return RegionRefusal(.regionNotAllowed) }
        let needsConfirmation = !confirmedOnly.isDisjoint(with: names)
        guard needsConfirmation || !allowed.isDisjoint(with: names) else {
            return RegionRefusal(.regionNotAllowed, rule: "regions.\(place)")
        }
        return isConfirmed || !needsConfirmation ? nil : RegionRefusal(.regionConfirmedOnly)
    }
}

/// The refusal of a number by its region.
package struct RegionRefusal: Sendable, Equatable {
    package let reason: RejectionReason

    /// `regions` where a list decides; `regions.001` and `regions.XX` where none names what belongs to no region.
    package let rule: String

    package init(_ reason: RejectionReason, rule: String = "regions") {
        self.reason = reason
        self.rule = rule
    }
}

extension Region {
    /// The regions whose mobile numbers are in the same ranges as this one's, itself among them.
    package var indistinguishable: Set<Region> { Self.groups[self] ?? [self] }

    /// True where a list names the region, or one whose mobile numbers are in the same ranges.
    fileprivate func isNamed(in regions: Set<Region>) -> Bool {
        if regions.contains(self) { return true }
        guard let group = Self.groups[self] else { return false }
        return !regions.isDisjoint(with: group)
    }

    /// The region that stands for this one in facts and events, since its mobile numbers are those of that region's plan.
    package var regionOfItsMobiles: Region { Self.groupsByPlan.first { $0.contains(self) }?.first ?? self }

    /// The regions of each plan of mobile numbers, the one first whose plan has them in facts.
    ///
    /// As libphonenumber's metadata say: the mobile patterns of the regions are the same, or one's lie within the other's,
    /// and no leading digits of a mobile number tell which.
    private static let groupsByPlan = ["AU CC CX", "FI AX", "GP BL MF", "MA EH", "IT VA", "NO SJ"]
        .map { $0.split(separator: " ").compactMap { Region($0) } }

    private static let groups: [Region: Set<Region>] = groupsByPlan.reduce(into: [:]) { groups, group in
        for region in group { groups[region] = Set(group) }
    }
}
