// SPDX-License-Identifier: Apache-2.0

package struct Routes: Sendable, Equatable {
    /// The route of text messages to regions without an entry in `regions`.
    package var fallback: Route
    package var regions: [Region: Route]
    package var email: Route

    /// The route of silent pushes by APNs.
    package var push: Route

    /// Decides if other providers may be called after a person opted out at one.
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

    /// The route of a message; empty if the policy has none for the channel.
    package func route(for channel: Channel, region: Region) -> Route {
        switch channel {
        case .sms: regions[region] ?? fallback
        case .email: email
        case .apns: push
        }
    }

    /// The route of a message, reduced to one provider if the person has opted out there.
    ///
    /// Only that provider learns when the person opts in again; any other one would evade the opt-out.
    package func route(for channel: Channel, region: Region, optedOutAt provider: String?) -> Route {
        let route = route(for: channel, region: region)
        guard let provider, onOptOut == .stop else { return route }
        return route.only(provider)
    }
}

/// The rule for the remaining providers after the recipient opted out at one.
package enum OptOutRule: String, Sendable, CaseIterable {
    /// No other provider is called: after STOP, no other sender writes to the person.
    case stop

    /// The next provider is called, as after a refusal: for operators whose law or consent allows it.
    case next
}
