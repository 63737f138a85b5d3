// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The numbers of the toll-fraud brake that an operator may change.
package struct BrakeRules: Sendable, Equatable {
    /// Divides the evidence that a trip needs: 0.5…2.
    package var sensitivity = 1.0

    /// The first block of a scope; each further one within a day is twice as long.
    package var firstBlock = Duration.seconds(300)
    package var longestBlock = Duration.seconds(43200)

    package init() {}

    /// The time without a block after which the next one is short again.
    package static let memory = Duration.seconds(86400)

    /// The length of a block after so many trips within `memory`, with this one.
    func block(trips: Int) -> Duration {
        min(longestBlock, firstBlock * (1 << min(trips - 1, 20)))
    }
}

/// The approvals that are usual for a tenant, by the last 14 days.
package protocol ConversionBaseline: Sendable {
    /// The rate of a region's confirmed or unconfirmed people.
    func rate(region: String, isConfirmed: Bool) -> ApprovalRate

    /// The speed of a region's approvals.
    func curve(region: String) -> ApprovalCurve

    /// The usual number of verifications of a region in the hour up to a time.
    func usualVolume(region: String, at time: Timestamp) -> Double
}
