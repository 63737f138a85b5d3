// SPDX-License-Identifier: Apache-2.0

import Verification

/// Whom a send goes to and when, as far as this worker can tell now.
struct SendRouter: Sendable {
    let desk: ProviderDesk
    let policies: PolicySource

    enum Way {
        /// To the first of these, at once.
        case now([String])

        /// To the first of these that has a turn for it.
        case inTurn([String])

        /// Nobody takes it for this time.
        case paused(Duration)
    }

    func way(of send: ClaimedSend) -> Way {
        guard !send.isFictional else { return .now([TestNumberProvider.name]) }
        // Nobody is asked for a tenant that the policy does not know any more.
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

    /// The policy's rule after a recipient's opt-out; the strict one where the tenant is unknown.
    func onOptOut(for send: ClaimedSend) -> OptOutRule {
        policies.current.tenants[send.tenant]?.routes.onOptOut ?? .stop
    }
}
