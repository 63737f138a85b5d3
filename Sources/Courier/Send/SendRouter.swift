// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Picks a send's providers, by what this worker knows now.
struct SendRouter: Sendable {
    let desk: ProviderDesk
    let policies: PolicySource
    let shares: RouteShareSource
    let repeatsUnknown: Bool

    enum Choice {
        /// The first of these providers, at once.
        case now([String])

        /// The first of these providers that has a rate-limit token for it.
        case withToken([String])

        /// No provider accepts it for this time.
        case paused(Duration)
    }

    func route(for send: ClaimedSend) -> Choice {
        guard !send.isFictional else { return .now([TestNumberProvider.name]) }
        // The policy does not have this tenant any more: call no provider.
        guard let tenant = policies.current.tenants[send.tenant] else { return .now([]) }
        let region = send.region ?? .unknown
        let route = tenant.routes.route(for: send.recipient.channel, region: region, optedOutAt: send.optedOutAt)
        let weighted = shares.current.weighted(route, tenant: send.tenant, region: region)
        let (providers, pause) = desk.order(weighted, for: send)
        if let pause { return .paused(pause) }
        guard let first = providers.first, desk.isLimited(first) else { return .now(providers) }
        return .withToken(providers)
    }

    /// Plans the calls of a send to providers in this order.
    ///
    /// For a tenant that the policy does not have, the strict rule for opted-out recipients holds.
    func plan(for send: ClaimedSend, _ providers: [String]) -> AttemptPlan {
        AttemptPlan(
            providers: providers,
            idempotent: desk.idempotent,
            refusers: send.refusers,
            attempts: send.attempts,
            repetition: send.repetition,
            repeatsUnknown: repeatsUnknown,
            onOptOut: policies.current.tenants[send.tenant]?.routes.onOptOut ?? .stop,
            isOptedOut: send.optedOutAt != nil
        )
    }
}
