// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing

@testable import Verification

@Suite struct ConversionHistoryTests {
    private static let hour = Duration.seconds(3600)

    /// Counts of some hours before the test's time.
    private static func counts(
        _ hours: some Sequence<Int>,
        region: String = "DE",
        isConfirmed: Bool = false,
        _ verifications: Int,
        approved: Int,
        within: [Int] = [0, 0, 0, 0, 0, 0]
    ) -> [ConversionCounts.Group: ConversionCounts.Count] {
        var groups: [ConversionCounts.Group: ConversionCounts.Count] = [:]
        for hours in hours {
            let group = ConversionCounts.Group(
                hour: (.test - hour * hours).hour,
                tenant: "a",
                region: region,
                provider: "",
                isConfirmed: isConfirmed
            )
            groups[group] = .init(verifications: verifications, approved: approved, sends: 1, within: within)
        }
        return groups
    }

    private static func history(_ groups: [ConversionCounts.Group: ConversionCounts.Count]...) -> ConversionHistory {
        ConversionHistory(ConversionCounts(groups.reduce(into: [:]) { $0.merge($1) { _, new in new } }), at: .test)
    }

    @Test func `a new tenant has the rate and the speed of the field, and no volume`() {
        let history = ConversionHistory()
        #expect(history.rate(region: "DE", isConfirmed: true) == .unknown)
        #expect(history.curve(region: "DE") == .usual)
        #expect(history.usualVolume(region: "DE", at: .test) == 0)
        #expect(history.isAsleep(below: 1))
    }

    @Test func `a rate is the region's own, by people who are confirmed and others, shrunk to the tenant's`() {
        let history = Self.history(
            Self.counts([30], 1000, approved: 900),
            Self.counts([30], isConfirmed: true, 100, approved: 10),
            Self.counts([30], region: "FR", 10, approved: 0)
        )
        let tenant = (910 + 20 * 0.65) / (1110 + 20)
        #expect(abs(history.rate(region: "DE", isConfirmed: false).value - (900 + 20 * tenant) / 1020) < 1e-9)
        #expect(abs(history.rate(region: "DE", isConfirmed: true).value - (10 + 20 * tenant) / 120) < 1e-9)
        #expect(abs(history.rate(region: "FR", isConfirmed: false).value - 20 * tenant / 30) < 1e-9)
        #expect(abs(history.rate(region: "IT", isConfirmed: false).value - tenant) < 1e-9)
    }

    @Test func `a region that is off lowers what is usual nowhere else, and keeps its own rate`() {
        let attack = Self.counts([2], region: "US", 4500, approved: 0)
        let groups = Self.counts([2], 500, approved: 350).merging(attack) { $1 }
        let history = ConversionHistory(ConversionCounts(groups), at: .test) { $0 != "US" }
        let tenant = (350 + 20 * 0.65) / 520
        #expect(abs(history.rate(region: "IT", isConfirmed: false).value - tenant) < 1e-9)
        #expect(abs(history.rate(region: "US", isConfirmed: false).value - 20 * tenant / 4520) < 1e-9)
        #expect(history.approvalsOfDay == 350 && history.verificationsOfDay == 500)
        #expect(!history.isAsleep(below: 200))
    }

    @Test func `what began more than 14 days ago counts no more`() {
        let history = Self.history(Self.counts([14 * 24 + 1], 1000, approved: 0))
        #expect(history.rate(region: "DE", isConfirmed: false) == .unknown)
    }

    @Test func `the speed is the region's of the last day, else the tenant's, else the usual one`() {
        let slow = [0, 0, 0, 50, 100, 200]
        let history = Self.history(
            Self.counts([2], 400, approved: 200, within: slow),
            Self.counts([2], region: "FR", 10, approved: 5, within: [5, 5, 5, 5, 5, 5])
        )
        #expect(history.curve(region: "DE").parts == [0, 0, 0, 0.25, 0.5, 1])
        #expect(history.curve(region: "FR").parts[0] == 5.0 / 205)
        let old = Self.history(Self.counts([26], 400, approved: 200, within: slow))
        #expect(old.curve(region: "DE") == .usual)
    }

    @Test func `the usual volume is the median of the hour over the days, quiet days included`() {
        let time = Timestamp.test.hour + .seconds(1800)
        // Seven days, each hour of five of them, the same hour of one day with an attack.
        let groups = Self.history(
            Self.counts((2 * 24)..<(7 * 24), 100, approved: 60),
            Self.counts([3 * 24], 10_000, approved: 60)
        )
        #expect(groups.usualVolume(region: "DE", at: time) == 100)
        #expect(groups.usualVolume(region: "FR", at: time) == 0)
        let young = Self.history(Self.counts([49], 100, approved: 60))
        // Of two hours of the day before the test's, one had traffic.
        #expect(young.usualVolume(region: "DE", at: Timestamp.test.hour) == 50)
    }

    @Test func `an hour's part is taken from that hour, and the rest from the one before`() {
        let history = Self.history(Self.counts([24], 100, approved: 60), Self.counts([25], 40, approved: 60))
        let volume = history.usualVolume(region: "DE", at: Timestamp.test.hour + .seconds(900))
        #expect(abs(volume - (0.75 * 40 + 0.25 * 100)) < 1e-9)
    }

    @Test func `a tenant is asleep below its minimum of approvals a day, or a tenth of its verifications`() {
        let history = Self.history(Self.counts([2, 3], 300, approved: 100), Self.counts([25], 300, approved: 100))
        #expect(history.approvalsOfDay == 200 && history.verificationsOfDay == 600)
        #expect(!history.isAsleep(below: 200))
        #expect(history.isAsleep(below: 201))
        #expect(Self.history(Self.counts([2], 2001, approved: 200)).isAsleep(below: 200))
    }

    @Test func `an approval counts for each age that it was not older than, and what never left counts for nothing`() {
        var counts = ConversionCounts()
        let outcomes: [(ConversionSample.Outcome, Int)] = [
            (.approved, 31), (.open, 0), (.fraud, 0), (.unsent, 0), (.waiting, 0),
        ]
        for (outcome, seconds) in outcomes {
            var random = SystemRandomNumberGenerator()
            let sample = ConversionSample(
                id: .version7(at: .test, using: &random),
                region: "DE",
                client: nil,
                prefix: nil,
                range: nil,
                isConfirmed: false,
                outcome: outcome,
                provider: "main",
                sends: 2,
                approvedAfter: .seconds(seconds)
            )
            counts.add(sample, of: "a")
        }
        let group = ConversionCounts.Group(
            hour: Timestamp.test.hour,
            tenant: "a",
            region: "DE",
            provider: "main",
            isConfirmed: false
        )
        var count = ConversionCounts.Count(verifications: 3, approved: 1, sends: 6, within: [0, 0, 1, 1, 1, 1])
        // A first message counts for its provider unless it is fraud.
        count.firsts = 3
        #expect(counts.groups == [group: count])
    }
}
