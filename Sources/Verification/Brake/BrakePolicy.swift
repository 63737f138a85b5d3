// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The rules of the toll-fraud brake for one tenant.
package struct BrakePolicy: Sendable, Equatable {
    package enum Mode: String, Sendable, CaseIterable {
        case off

        /// Sends the message, and logs that a block would have refused it.
        case record
        case enforce
    }

    /// The default mode of scopes.
    package var mode: Mode
    package var scopes: [BrakeScope: Mode]

    /// The modes of regions, which override those of scopes.
    package var regions: [Region: Mode]

    /// The minimum score of an app verification with which a request passes blocks of ranges and regions.
    package var trustedScore: Double

    /// The minimum number of approvals in a day for which blocks are enforced.
    package var minimumApprovals: Int
    package var rules: BrakeRules

    /// The networks whose clients are never blocked.
    package var allowedNetworks: [IPNetwork]

    /// The first digits, after a `+`, of numbers that are never blocked.
    package var allowedPrefixes: [String]

    package init(
        mode: Mode = .record,
        scopes: [BrakeScope: Mode] = [:],
        regions: [Region: Mode] = [:],
        trustedScore: Double = 0.7,
        minimumApprovals: Int = 200,
        rules: BrakeRules = BrakeRules(),
        allowedNetworks: [IPNetwork] = [],
        allowedPrefixes: [String] = []
    ) {
        self.mode = mode
        self.scopes = scopes
        self.regions = regions
        self.trustedScore = trustedScore
        self.minimumApprovals = minimumApprovals
        self.rules = rules
        self.allowedNetworks = allowedNetworks
        self.allowedPrefixes = allowedPrefixes
    }

    package func mode(of scope: BrakeScope, in region: Region) -> Mode { regions[region] ?? scopes[scope] ?? mode }

    /// False for a region in which every scope is off.
    package func judges(_ region: String) -> Bool {
        let region = Region(region) ?? .unknown
        return BrakeScope.allCases.contains { mode(of: $0, in: region) != .off }
    }

    package func allows(_ number: PhoneNumber?, from address: IPAddress?) -> Bool {
        if let number, allowedPrefixes.contains(where: { number.e164.hasPrefix($0) }) { return true }
        guard let address else { return false }
        return allowedNetworks.contains { $0.contains(address) }
    }

    /// True for a request from an app that its platform has verified, so that it comes from a real device.
    ///
    /// A verdict without a score is trusted: its method only decides yes or no.
    package func trusts(_ shown: AppVerification?) -> Bool {
        guard let shown, shown.verdict == .pass, (shown.score ?? 1) >= trustedScore else { return false }
        switch shown.method {
        case .silentPush, .playIntegrity, .appAttest: return true
        case .recaptcha, .notVerified: return false
        }
    }
}

/// The parameters of the toll-fraud brake that an operator may change.
package struct BrakeRules: Sendable, Equatable {
    /// The divisor of the evidence needed for a trip: 0.5…2.
    package var sensitivity = 1.0

    /// The length of a scope's first block; each further one within a day is twice as long.
    package var firstBlock = Duration.seconds(300)
    package var longestBlock = Duration.seconds(43200)

    package init() {}

    /// The time after a block's end from which the next block is as short as a first one.
    package static let memory = Duration.seconds(86400)

    /// The length of a block, given the number of trips within `memory`, including this one.
    func block(trips: Int) -> Duration {
        min(longestBlock, firstBlock * (1 << min(trips - 1, 20)))
    }
}

/// The tenant's usual approvals, from the last 14 days.
package protocol ConversionBaseline: Sendable {
    /// The approval rate of a region's confirmed or unconfirmed people.
    func rate(region: String, isConfirmed: Bool) -> ApprovalRate

    /// The curve of approvals over time in a region.
    func curve(region: String) -> ApprovalCurve

    /// The region's usual number of verifications in the hour before a time.
    func usualVolume(region: String, at time: Timestamp) -> Double
}
