// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Picks a send's providers, by what this worker knows now.
struct SendRouter: Sendable {
    let desk: ProviderDesk
    let policies: PolicySource

    enum Way {
        /// To the first of these providers, at once.
        case now([String])

        /// To the first of these providers that has a rate-limit token for it.
        case inTurn([String])

        /// No provider accepts it for this time.
        case paused(Duration)
    }

    func way(of send: ClaimedSend) -> Way {
        guard !send.isFictional else { return .now([TestNumberProvider.name]) }
        // The policy does not have this tenant any more: call no provider.
        guard let tenant = policies.current.tenants[send.tenant] else { return .now([]) }
        let route = tenant.routes.route(
            for: send.recipient.channel,
            region: send.region ?? .unknown,
            optedOutAt: send.optedOutAt
        )
        let (providers, pause) = desk.order(route, for: send)
        if let pause { return .paused(pause) }
        guard let first = providers.first, desk.isLimited(first) else { return .now(providers) }
        return .inTurn(providers)
    }

    /// The policy's rule for opted-out recipients; `stop`, the strict rule, for an unknown tenant.
    func onOptOut(for send: ClaimedSend) -> OptOutRule {
        policies.current.tenants[send.tenant]?.routes.onOptOut ?? .stop
    }
}
