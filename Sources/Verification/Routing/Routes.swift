// SPDX-License-Identifier: Apache-2.0

/// The routes of a tenant.
package struct Routes: Sendable, Equatable {
    /// For text messages to every region without a route of its own.
    package var fallback: Route
    package var regions: [Region: Route]
    package var email: Route

    /// For silent pushes by APNs.
    package var push: Route

    package init(fallback: Route, regions: [Region: Route] = [:], email: Route = [], push: Route = []) {
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
}
