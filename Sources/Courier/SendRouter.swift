// SPDX-License-Identifier: Apache-2.0

import Verification

/// Whom a send goes to and when, as far as this worker can tell now.
struct SendRouter: Sendable {
    let desk: ProviderDesk
    let policies: PolicySource

    enum Way {
        /// To the first of these, at once.
        case now([String])

        /// To the first of these, when it is the send's turn there.
        case inTurn(of: String, [String])

        /// Nobody takes it for this time.
        case paused(Duration)
    }

    func way(of send: ClaimedSend) -> Way {
        guard !send.isFictional else { return .now([TestNumberProvider.name]) }
        let providers = order(for: send)
        if let pause = desk.pause(of: providers) { return .paused(pause) }
        guard let first = providers.first, desk.isLimited(first) else { return .now(providers) }
        return .inTurn(of: first, providers)
    }

    /// The providers to ask, in order; none for a tenant that the policy does not know any more.
    private func order(for send: ClaimedSend) -> [String] {
        guard let tenant = policies.current.tenants[send.tenant] else { return [] }
        let route = tenant.routes.route(for: send.recipient.channel, region: send.region ?? .unknown)
        return desk.order(route, used: send.usedProviders)
    }
}
