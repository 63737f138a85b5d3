// SPDX-License-Identifier: Apache-2.0

/// The routes of a tenant.
package struct Routes: Sendable, Equatable {
    /// For text messages to every region without a route of its own.
    package var fallback: Route
    package var regions: [Region: Route]
    package var email: Route

    /// For silent pushes by APNs.
    package var push: Route

    /// True where another provider may be asked for a person who has opted out at one.
    package var onOptOut: OptOutRule

    package init(
        fallback: Route,
        regions: [Region: Route] = [:],
        email: Route = [],
        push: Route = [],
        onOptOut: OptOutRule = .stop
    ) {
        self.onOptOut = onOptOut
        self.fallback = fallback
        self.regions = regions
        self.email = email
        self.push = push
    }

    /// The route of a message; empty when the policy has none for the channel.
    package func route(for channel: Channel, region: Region) -> Route {
        switch channel {
        case .sms: regions[region] ?? fallback
        case .email: email
        case .apns: push
        }
    }

    /// The route of a message to a person who has opted out at one of its providers, if they have.
    ///
    /// That provider knows when the person takes it back; another one would evade their word.
    package func route(for channel: Channel, region: Region, optedOutAt provider: String?) -> Route {
        let route = route(for: channel, region: region)
        guard let provider, onOptOut == .stop else { return route }
        return route.only(provider)
    }
}

/// The rule on providers after the recipient's opt-out at one of them.
package enum OptOutRule: String, Sendable, CaseIterable {
    /// Nobody else is asked: who sent STOP gets no message by another sender.
    case stop

    /// The next provider is asked, as after a refusal: for those whose law or whose consent allows it.
    case next
}
