// SPDX-License-Identifier: Apache-2.0

package import Formats
import Glibc

/// The first messages of one tenant by provider, region and hour, with the part whose codes were approved.
///
/// Second messages go to people whom the first did not reach, so they would make their provider look bad.
package struct RouteEvidence: Sendable, Equatable {
    /// The time that evidence is kept: by then a half-life of a day has left a hundredth.
    package static let span = Duration.seconds(7 * 86_400)

    /// A group of people that is compared with itself alone: confirmed people approve more than others.
    struct Cell: Sendable, Hashable {
        let region: String
        let provider: String
        let isConfirmed: Bool
    }

    /// Messages and approvals, each weighted by its age.
    struct Sum: Sendable, Equatable {
        var messages = 0.0
        var approved = 0.0

        static func += (sum: inout Sum, other: Sum) {
            sum.messages += other.messages
            sum.approved += other.approved
        }
    }

    private var hours: [Cell: [Timestamp: Sum]] = [:]

    package init() {}

    /// Adds the counts of one tenant.
    package mutating func add(_ counts: ConversionCounts) {
        for (group, count) in counts.groups where count.firsts > 0 {
            let cell = Cell(region: group.region, provider: group.provider, isConfirmed: group.isConfirmed)
            let sum = Sum(messages: Double(count.firsts), approved: Double(count.firstsApproved))
            hours[cell, default: [:]][group.hour, default: Sum()] += sum
        }
    }

    package mutating func forget(at now: Timestamp) {
        let end = now - Self.span
        hours = hours.compactMapValues { hours in
            let left = hours.filter { $0.key > end }
            return left.isEmpty ? nil : left
        }
    }

    /// The approvals of all providers, whatever their age.
    var approvals: Double { hours.values.reduce(0) { $1.values.reduce($0) { $0 + $1.approved } } }

    package var regions: Set<String> { Set(hours.keys.map(\.region)) }

    /// The sums of each cell, where an observation counts half after each half-life.
    func sums(halfLife: Duration, at now: Timestamp) -> [Cell: Sum] {
        hours.mapValues { hours in
            var sum = Sum()
            for (hour, count) in hours {
                // The middle of the hour stands for all of it.
                let age = max(.zero, now - hour - .seconds(1800))
                let weight = exp2(-(age / halfLife))
                sum += Sum(messages: weight * count.messages, approved: weight * count.approved)
            }
            return sum
        }
    }
}
