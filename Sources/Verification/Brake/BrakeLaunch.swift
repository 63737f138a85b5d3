// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A launch in force that ends after a number of messages to people who are not confirmed.
package struct BrakeLaunch: Sendable, Equatable {
    /// The region.
    package let turn: BrakeTurn
    package let createdAt: Timestamp
    package let maximum: Int64

    /// The time up to which verifications have come to the last age; nil before the first count.
    package var maturedTo: Timestamp?

    /// The messages of those verifications.
    package var matured: Int64

    /// All messages, those of younger verifications included.
    package var used: Int64

    package init(
        turn: BrakeTurn,
        createdAt: Timestamp,
        maximum: Int64,
        maturedTo: Timestamp? = nil,
        matured: Int64 = 0,
        used: Int64 = 0
    ) {
        self.turn = turn
        self.createdAt = createdAt
        self.maximum = maximum
        self.maturedTo = maturedTo
        self.matured = matured
        self.used = used
    }

    package var isUsedUp: Bool { used >= maximum }

    /// The time from which verifications are counted by who reads them now.
    fileprivate var countedFrom: Timestamp { max(createdAt, maturedTo ?? createdAt) }
}

/// The messages of launches, as the fleet's reader counts them.
///
/// A verification's messages count from its first reading on, and finally at the last age. What is stored names the time
/// up to which that is so, from which another reader continues.
package struct LaunchCounts {
    private struct Count {
        let launch: BrakeLaunch
        var matured: Int64 = 0

        /// The messages of verifications that have not come to the last age: fewer than the launch's maximum.
        var young: [UUIDValue: Int64] = [:]
        var sumOfYoung: Int64 = 0

        var used: Int64 { launch.matured + matured + sumOfYoung }

        mutating func read(_ sample: ConversionSample, isLast: Bool) {
            guard !sample.isConfirmed, let beganAt = sample.id.version7Time, beganAt >= launch.countedFrom,
                BrakeKey(region: sample.region) == launch.turn.key
            else { return }
            let sends = sample.outcome == .unsent ? 0 : Int64(sample.sends)
            sumOfYoung -= young.removeValue(forKey: sample.id) ?? 0
            if isLast {
                matured += sends
            } else if sends > 0, used < launch.maximum {
                young[sample.id] = sends
                sumOfYoung += sends
            }
        }
    }

    private var counts: [BrakeTurn: Count] = [:]

    package init() {}

    package var isEmpty: Bool { counts.isEmpty }

    /// Takes the launches in force; one that was announced anew begins anew.
    package mutating func follow(_ launches: [BrakeLaunch]) {
        var followed: [BrakeTurn: Count] = [:]
        for launch in launches {
            let known = counts[launch.turn].flatMap { $0.launch.createdAt == launch.createdAt ? $0 : nil }
            followed[launch.turn] = known ?? Count(launch: launch)
        }
        counts = followed
    }

    /// Takes verifications at one of their ages, by tenant.
    package mutating func read(_ samples: [String: [ConversionSample]], isLast: Bool) {
        for turn in counts.keys {
            for sample in samples[turn.tenant] ?? [] { counts[turn]?.read(sample, isLast: isLast) }
        }
    }

    /// The launches as they are to be stored, where verifications before `end` have come to the last age.
    ///
    /// A launch that needs earlier verifications than those from `start` on, which this reader has read, is left out.
    package func launches(maturedTo end: Timestamp, readFrom start: Timestamp) -> [BrakeLaunch] {
        counts.values.filter { $0.launch.countedFrom >= start }.map { count in
            var launch = count.launch
            launch.matured += count.matured
            launch.maturedTo = max(end, launch.countedFrom)
            launch.used = count.used
            return launch
        }
    }
}
