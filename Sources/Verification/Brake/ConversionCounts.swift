// SPDX-License-Identifier: Apache-2.0

package import Formats

/// Verifications whose outcome is final, counted by the hour in which they began: the basis of a tenant's usual
/// numbers.
package struct ConversionCounts: Sendable, Equatable {
    package struct Group: Sendable, Hashable {
        package let hour: Timestamp
        package let tenant: String
        package let region: String

        /// Empty if the provider is unknown, or for the sum of all providers.
        package let provider: String
        package let isConfirmed: Bool

        package init(hour: Timestamp, tenant: String, region: String, provider: String, isConfirmed: Bool) {
            self.hour = hour
            self.tenant = tenant
            self.region = region
            self.provider = provider
            self.isConfirmed = isConfirmed
        }
    }

    package struct Count: Sendable, Equatable {
        package var verifications = 0
        package var approved = 0
        package var sends = 0

        /// The verifications whose first message the provider took, and those that it alone got approved.
        package var firsts = 0
        package var firstsApproved = 0

        /// The approvals up to each of the ages of `ApprovalCurve`.
        package var within = [Int](repeating: 0, count: ApprovalCurve.ages.count)

        package init() {}

        package init(verifications: Int, approved: Int, sends: Int, within: [Int]) {
            self.verifications = verifications
            self.approved = approved
            self.sends = sends
            self.within = within
        }

        static func += (sum: inout Count, other: Count) {
            sum.verifications += other.verifications
            sum.approved += other.approved
            sum.sends += other.sends
            sum.firsts += other.firsts
            sum.firstsApproved += other.firstsApproved
            for (index, count) in other.within.enumerated() { sum.within[index] += count }
        }
    }

    package private(set) var groups: [Group: Count] = [:]

    package init(_ groups: [Group: Count] = [:]) {
        self.groups = groups
    }

    package var isEmpty: Bool { groups.isEmpty }

    /// Counts a verification at the last age; one whose message was never sent is ignored.
    package mutating func add(_ sample: ConversionSample, of tenant: String) {
        guard let beganAt = sample.id.version7Time else { return }
        func group(_ provider: String) -> Group {
            Group(
                hour: beganAt.hour,
                tenant: tenant,
                region: sample.region,
                provider: provider,
                isConfirmed: sample.isConfirmed
            )
        }
        // A first message that its provider took counts whatever became of later ones; fraud says nothing about a provider.
        if let first = sample.firstProvider, ![.waiting, .fraud].contains(sample.outcome) {
            groups[group(first), default: Count()].firsts += 1
            if sample.isFirstApproved { groups[group(first), default: Count()].firstsApproved += 1 }
        }
        if [.unsent, .waiting].contains(sample.outcome) { return }
        var count = Count(verifications: 1, approved: 0, sends: sample.sends, within: [])
        if sample.outcome == .approved {
            count.approved = 1
            let after = sample.approvedAfter ?? .zero
            count.within = ApprovalCurve.ages.map { after <= $0 ? 1 : 0 }
        }
        groups[group(sample.provider ?? ""), default: Count()] += count
    }

    /// The counts by tenant.
    package var byTenant: [String: ConversionCounts] {
        Dictionary(grouping: groups, by: \.key.tenant).mapValues { pairs in
            ConversionCounts(Dictionary(uniqueKeysWithValues: pairs.map { ($0.key, $0.value) }))
        }
    }
}

extension Timestamp {
    /// The beginning of the hour in UTC.
    package var hour: Timestamp {
        let hour: Int64 = 3_600_000_000
        return Timestamp(microseconds: microseconds - (microseconds % hour + hour) % hour)
    }
}
