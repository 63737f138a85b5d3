// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The rules of the toll-fraud brake for one tenant.
package struct BrakePolicy: Sendable, Equatable {
    package enum Mode: String, Sendable, CaseIterable {
        case off

        /// Sends, and logs what a block would refuse.
        case record
        case enforce
    }

    /// The mode of a scope that nothing else names.
    package var mode: Mode
    package var scopes: [BrakeScope: Mode]

    /// The modes of regions, which replace those of all scopes.
    package var regions: [Region: Mode]

    /// The least score of an app verification whose request a range or region does not stop.
    package var trustedScore: Double

    /// The least number of approvals in a day for which blocks are enforced.
    package var minimumApprovals: Int
    package var rules: BrakeRules

    /// The networks of clients that are never stopped.
    package var allowedNetworks: [IPNetwork]

    /// The first digits, after a `+`, of numbers that are never stopped.
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

    /// True for a request whose app has been verified by the platform, so that it comes from a real device.
    ///
    /// These methods decide yes or no: a verdict without a score is trusted.
    package func trusts(_ shown: AppVerification?) -> Bool {
        guard let shown, shown.verdict == .pass, (shown.score ?? 1) >= trustedScore else { return false }
        switch shown.method {
        case .silentPush, .playIntegrity, .appAttest: return true
        case .recaptcha, .notVerified: return false
        }
    }
}

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
