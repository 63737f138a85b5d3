// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The shares of adaptive routes in force, which every worker reads.
package struct RouteShares: Sendable, Equatable {
    package struct Place: Sendable, Hashable {
        package let tenant: String

        /// Empty for regions without evidence.
        package let region: String

        package init(tenant: String, region: String) {
            self.tenant = tenant
            self.region = region
        }
    }

    package private(set) var places: [Place: [RouteShare]]

    package init(_ places: [Place: [RouteShare]] = [:]) {
        self.places = places
    }

    /// The shares of a region; of regions without evidence if it has none.
    package func shares(of tenant: String, in region: String) -> [RouteShare]? {
        places[Place(tenant: tenant, region: region)] ?? places[Place(tenant: tenant, region: "")]
    }

    /// The route with weights in place of adaptive shares.
    ///
    /// A provider without a share, such as a new one, gets an equal part.
    package func weighted(_ route: Route, tenant: String, region: Region) -> Route {
        guard case .adaptive(let adaptive) = route else { return route }
        let shares = shares(of: tenant, in: region.code) ?? []
        let known = Dictionary(shares.map { ($0.provider, $0.share) }) { first, _ in first }
        let equal = max(1, ShareRule.whole / max(1, adaptive.providers.count))
        return .weighted(adaptive.providers.map { Route.Share(provider: $0, weight: known[$0] ?? equal) })
    }

    /// True if other shares are too near to be worth a write: less than a point apart, with the same silences.
    package func isNear(_ other: RouteShares) -> Bool {
        guard places.keys == other.places.keys else { return false }
        return places.allSatisfy { place, shares in
            let others = other.places[place] ?? []
            return shares.count == others.count
                && zip(shares, others).allSatisfy { one, other in
                    one.provider == other.provider && one.silence == other.silence
                        && abs(one.share - other.share) < ShareRule.whole / 100
                }
        }
    }
}

/// The shares in force, which a worker's watch replaces.
package typealias RouteShareSource = InForce<RouteShares>
