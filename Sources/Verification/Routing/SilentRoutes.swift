// SPDX-License-Identifier: Apache-2.0

package import Formats
import Glibc

/// The providers of one tenant that accept messages and deliver none, found by the approvals that are missing.
///
/// A circuit breaker does not see them, since each call succeeds. The test is the brake's: too few approvals for the
/// ages of the messages, where the other providers' messages are approved.
package struct SilentRoutes {
    /// The time that messages count.
    package static let window = Duration.seconds(1800)

    /// The time for which a region's traffic is remembered.
    private static let volumeMemory = Duration.seconds(6 * 3600)

    /// The most verifications of a provider, region and minute in memory.
    static let sample = 60

    package struct Place: Sendable, Hashable {
        package let region: String
        package let provider: String

        package init(region: String, provider: String) {
            self.region = region
            self.provider = provider
        }
    }

    /// A time in which a provider gets hardly any messages of a region.
    package struct Silence: Sendable, Equatable {
        package let since: Timestamp
        package let until: Timestamp

        package static let shortest = Duration.seconds(900)
        package static let longest = Duration.seconds(4 * 3600)

        /// The time after its end in which another silence is twice as long.
        static let memory = Duration.seconds(86_400)

        package init(since: Timestamp, until: Timestamp) {
            self.since = since
            self.until = until
        }

        /// The silence that follows this one.
        func next(at now: Timestamp) -> Silence {
            let length = min((until - since) * 2, Self.longest)
            return Silence(since: now, until: now + length)
        }
    }

    package struct Change: Sendable, Equatable {
        package let place: Place

        /// Nil if the provider has recovered.
        package let silence: Silence?
        package let shortfall: Shortfall
    }

    private struct Row {
        let isConfirmed: Bool
        var part = 0.0
        var isApproved = false
    }

    private struct Evidence {
        var expected = 0.0
        var weight = 0.0
        var approved = 0

        /// The least evidence for or against a provider.
        static let threshold = BrakeScope.Threshold(need: 9.2, minimum: 4, ratio: 3)
        var shortfall: Shortfall { Shortfall(expected: expected, observed: approved) }
        var isSilent: Bool { shortfall.exceeds(Self.threshold, sensitivity: 1) }

        static func += (sum: inout Evidence, other: Evidence) {
            sum.expected += other.expected
            sum.weight += other.weight
            sum.approved += other.approved
        }

        var delivers: Bool { expected >= 4 && Double(approved) >= expected / 3 }

        /// The messages below which others say nothing.
        static let fewMessages = 10.0

        /// The nats by which two providers have to differ: an attack lowers both alike, but few messages may look lucky.
        private static let leastDifference = 6.0

        /// True if these messages are approved, and for a reason that the others lack: no chance explains both.
        func convert(unlike silent: Evidence) -> Bool {
            guard weight >= 4, Double(approved) > 0.3 * weight else { return false }
            let rate = Double(approved + silent.approved) / (weight + silent.weight)
            func nats(_ evidence: Evidence) -> Double {
                let count = Double(evidence.approved)
                return count == 0 ? 0 : count * log(count / (rate * evidence.weight))
            }
            return nats(self) + nats(silent) >= Self.leastDifference
        }
    }

    /// By the minute in which they began.
    private var rows: [Place: [Int64: [UUIDValue: Row]]] = [:]

    /// The verifications of each region, by the minute in which they began.
    private var volumes: [String: [Int64: Int]] = [:]
    package private(set) var silences: [Place: Silence] = [:]

    /// The verifications of before are spent: a silence is their verdict.
    private var beginnings: [Place: Timestamp] = [:]

    package init() {}

    /// Goes on with a silence that another reader has found.
    package mutating func `continue`(_ silence: Silence, of place: Place) {
        silences[place] = silence
        beginnings[place] = silence.since
    }

    /// The verifications in memory.
    var size: Int { rows.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } } }

    /// The silences in force in a region, by provider.
    package func silent(in region: String, at now: Timestamp) -> [String: Silence] {
        var silent: [String: Silence] = [:]
        for (place, silence) in silences where place.region == region && now < silence.until {
            silent[place.provider] = silence
        }
        return silent
    }

    /// Takes a verification as it is at one of the ages, nil if it is younger than the first.
    ///
    /// One that a block of the brake explains says nothing about its provider.
    package mutating func read(
        _ sample: ConversionSample,
        age: Int?,
        isExplained: Bool,
        by baseline: some ConversionBaseline
    ) {
        guard let beganAt = sample.id.version7Time, let provider = sample.firstProvider else { return }
        let place = Place(region: sample.region, provider: provider)
        if let beginning = beginnings[place], beganAt < beginning { return }
        let minute = beganAt.minute
        let known = rows[place]?[minute]?[sample.id]
        if known == nil, age == nil { volumes[sample.region, default: [:]][minute, default: 0] += 1 }
        if isExplained || sample.outcome == .fraud {
            rows[place]?[minute]?[sample.id] = nil
            return
        }
        guard sample.outcome != .waiting, known != nil || (rows[place]?[minute]?.count ?? 0) < Self.sample else {
            return
        }
        var row = known ?? Row(isConfirmed: sample.isConfirmed)
        row.part = age.map { baseline.curve(region: sample.region).parts[$0] } ?? 0
        row.isApproved = sample.isFirstApproved
        rows[place, default: [:]][minute, default: [:]][sample.id] = row
    }

    /// Judges all places; a silent provider is one whose route has another.
    package mutating func judge(
        at now: Timestamp,
        by baseline: some ConversionBaseline,
        hasAlternative: (Place) -> Bool
    ) -> [Change] {
        forget(before: now - Self.window, at: now)
        var found: [Place: Evidence] = [:]
        var silent: [Place: (evidence: Evidence, since: Int64)] = [:]
        for (place, minutes) in rows {
            // The newest minutes alone show a silence that has just begun; older ones would hide it.
            var sum = Evidence()
            for minute in minutes.keys.sorted(by: >) {
                sum += evidence(minutes[minute] ?? [:], of: place, by: baseline)
                if sum.isSilent { silent[place] = (sum, minute) }
            }
            found[place] = sum
        }
        var changes: [Change] = []
        for (place, own) in found {
            if silences[place] != nil, own.delivers {
                silences[place] = nil
                changes.append(Change(place: place, silence: nil, shortfall: own.shortfall))
                continue
            }
            guard let verdict = silent[place], silences[place].map({ $0.until <= now }) ?? true, hasAlternative(place)
            else { continue }
            let others = others(of: place, since: verdict.since, by: baseline)
            // If the others convert as badly, the cause is no provider. An attack adds traffic, a silent route none.
            guard
                others.convert(unlike: verdict.evidence)
                    || others.weight < Evidence.fewMessages
                        && !isSurplus(place.region, since: verdict.since, at: now, by: baseline)
            else { continue }
            let silence =
                silences[place]?.next(at: now) ?? Silence(since: now, until: now + Silence.shortest)
            silences[place] = silence
            rows[place] = nil
            beginnings[place] = now
            changes.append(Change(place: place, silence: silence, shortfall: verdict.evidence.shortfall))
        }
        return changes.sorted { ($0.place.region, $0.place.provider) < ($1.place.region, $1.place.provider) }
    }

    /// The evidence of a region's other providers, from a minute on.
    private func others(of place: Place, since first: Int64, by baseline: some ConversionBaseline) -> Evidence {
        var sum = Evidence()
        for (other, minutes) in rows where other.region == place.region && other.provider != place.provider {
            for (minute, rows) in minutes where minute >= first {
                sum += evidence(rows, of: other, by: baseline)
            }
        }
        return sum
    }

    private func evidence(
        _ minute: [UUIDValue: Row],
        of place: Place,
        by baseline: some ConversionBaseline
    ) -> Evidence {
        let rates = [true, false].map { baseline.rate(region: place.region, isConfirmed: $0).value }
        var evidence = Evidence()
        for row in minute.values {
            evidence.weight += row.part
            evidence.expected += rates[row.isConfirmed ? 0 : 1] * row.part
            if row.isApproved { evidence.approved += 1 }
        }
        return evidence
    }

    /// True if a region has more verifications since a minute than are usual; where nothing is usual, than in the
    /// quietest half hour of the hours before, since an attack may have lasted for some of them.
    private func isSurplus(
        _ region: String,
        since start: Int64,
        at now: Timestamp,
        by baseline: some ConversionBaseline
    ) -> Bool {
        let minutes = volumes[region] ?? [:]
        func volume(_ range: Range<Int64>) -> Int { minutes.reduce(0) { range ~= $1.key ? $0 + $1.value : $0 } }
        let end = now.minute + 1
        var usual = baseline.usualVolume(region: region, at: now) / 60
        if usual == 0 {
            let length = Int64(Self.window / .seconds(60))
            let first = minutes.keys.min() ?? end
            let starts = stride(from: end - 2 * length, through: first, by: -Int(length))
            guard let least = starts.map({ volume($0..<$0 + length) }).min() else { return true }
            usual = Double(least) / Double(length)
        }
        return Double(volume(start..<end)) > 1.5 * usual * Double(end - start) + 5
    }

    private mutating func forget(before start: Timestamp, at now: Timestamp) {
        let first = start.minute
        rows = rows.compactMapValues { minutes in
            let left = minutes.filter { $0.key >= first && !$0.value.isEmpty }
            return left.isEmpty ? nil : left
        }
        volumes = volumes.compactMapValues { minutes in
            let left = minutes.filter { $0.key >= (now - Self.volumeMemory).minute }
            return left.isEmpty ? nil : left
        }
        beginnings = beginnings.filter { $0.value > start }
        silences = silences.filter { now < $0.value.until + Silence.memory }
    }
}

extension Timestamp {
    fileprivate var minute: Int64 { microseconds / 60_000_000 }
}
