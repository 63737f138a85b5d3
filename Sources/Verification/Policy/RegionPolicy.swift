// SPDX-License-Identifier: Apache-2.0

/// Which regions a tenant's messages may go to.
package struct RegionPolicy: Sendable, Equatable {
    /// Exactly one of the two ways to state a policy.
    package enum Base: Sendable, Equatable {
        /// Every region but these; an unknown region is allowed.
        case allowByDefault(disallowed: Set<Region>)

        /// These regions only; an unknown region is denied.
        case allowlistOnly(allowed: Set<Region>)
    }

    package var base: Base

    /// Regions to which messages go only when the account has proved the recipient before.
    package var confirmedOnly: Set<Region>

    package init(_ base: Base, confirmedOnly: Set<Region> = []) {
        self.base = base
        self.confirmedOnly = confirmedOnly
    }

    /// The reason to refuse a number, or nil when the policy lets it through.
    ///
    /// A number with several candidate regions is denied when any of them is.
    package func refusal(of facts: NumberFacts, confirmed: Bool) -> RejectionReason? {
        let regions = facts.candidates.isEmpty ? [facts.region] : facts.candidates
        guard regions.allSatisfy(allows) else { return .regionNotAllowed }
        guard confirmed || confirmedOnly.isDisjoint(with: regions) else { return .regionConfirmedOnly }
        return nil
    }

    private func allows(_ region: Region) -> Bool {
        switch base {
        case .allowByDefault(let disallowed): !disallowed.contains(region)
        case .allowlistOnly(let allowed): allowed.contains(region)
        }
    }
}
