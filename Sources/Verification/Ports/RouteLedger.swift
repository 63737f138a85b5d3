// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The store of adaptive routes: first messages by the hour, and the shares in force.
///
/// Each method is one transaction. An error means that the database failed.
package protocol RouteLedger: Sendable {
    // MARK: Every worker

    /// A number that is raised by every change of the shares.
    func routesVersion() async throws -> Int64

    func routeShares() async throws -> RouteShares

    // MARK: The one reader of conversions

    /// The counts of first messages by provider, from an hour on.
    func routeHours(since: Timestamp) async throws -> ConversionCounts

    /// Replaces all shares; false if another worker is the reader.
    func store(_ shares: RouteShares, by reader: UUIDValue) async throws -> Bool
}
