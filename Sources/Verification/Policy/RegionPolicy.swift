// SPDX-License-Identifier: Apache-2.0

/// The regions that a tenant's messages may go to.
///
/// If mobile numbers do not distinguish regions, a rule for one of them applies to all: refusing MF refuses the mobile
/// numbers of GP, and allowing NO allows those of SJ.
package struct RegionPolicy: Sendable, Equatable {
    /// The default for regions that no list names.
    package enum Base: Sendable, Equatable {
        /// Every region except these.
        case allowByDefault(disallowed: Set<Region>)

        /// Only these regions.
        case allowlistOnly(allowed: Set<Region>)
    }

    package var base: Base

    /// The regions that get messages only if the account has verified the recipient before.
    package var confirmedOnly: Set<Region>

    /// The entries `001` and `XX` that a policy that allows by default lets through.
    ///
    /// Numbers of satellite and international networks are expensive and belong to no region: they are refused unless a
    /// list names them.
    package var allowedBeyondRegions: Set<Region>

    package init(_ base: Base, confirmedOnly: Set<Region> = [], allowedBeyondRegions: Set<Region> = []) {
        self.base = base
        self.confirmedOnly = confirmedOnly
        self.allowedBeyondRegions = allowedBeyondRegions
    }

    /// The reason and the rule of a refusal, or nil if the policy allows the number.
    ///
    /// A number with several candidate regions is refused if any of them is.
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

    /// Decides a number without a region: `XX` in a list includes international networks, since events show them as
    /// `XX`.
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

package struct RegionRefusal: Sendable, Equatable {
    package let reason: RejectionReason

    /// `regions` if a list decides; `regions.001` or `regions.XX` if no list names a number without a region.
    package let rule: String

    package init(_ reason: RejectionReason, rule: String = "regions") {
        self.reason = reason
        self.rule = rule
    }
}

extension Region {
    /// The regions whose mobile numbers share their ranges with this one's, itself included.
    package var indistinguishable: Set<Region> { Self.groups[self] ?? [self] }

    /// True if a list names the region, or one that shares its ranges of mobile numbers.
    package func isNamed(in regions: Set<Region>) -> Bool {
        if regions.contains(self) { return true }
        guard let group = Self.groups[self] else { return false }
        return !regions.isDisjoint(with: group)
    }

    /// The region that facts and events show for mobile numbers of this region, since its plan contains their ranges.
    package var regionOfItsMobiles: Region { Self.groupsByPlan.first { $0.contains(self) }?.first ?? self }

    /// The regions that share ranges of mobile numbers, the one first whose plan defines them.
    ///
    /// By libphonenumber's metadata: the mobile patterns of the regions are equal or nested, and no leading digits
    /// distinguish them.
    private static let groupsByPlan = ["AU CC CX", "FI AX", "GP BL MF", "MA EH", "IT VA", "NO SJ"]
        .map { $0.split(separator: " ").compactMap { Region($0) } }

    private static let groups: [Region: Set<Region>] = groupsByPlan.reduce(into: [:]) { groups, group in
        for region in group { groups[region] = Set(group) }
    }
}
