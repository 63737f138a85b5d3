// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing

@testable import Verification

/// Tests an attack on many prefixes of a region with much traffic of its own.
@Suite struct BrakeSurplusTests {
    /// A region with 5,400 verifications an hour, of which 70 % are approved.
    private struct Busy: ConversionBaseline {
        func rate(region: String, isConfirmed: Bool) -> ApprovalRate { ApprovalRate(approved: 70_000, of: 100_000) }
        func curve(region: String) -> ApprovalCurve { .usual }
        func usualVolume(region: String, at time: Timestamp) -> Double { 5400 }
    }

    private struct Message {
        let id: UUIDValue
        let second: Int
        let prefix: Int64
        let approvedAfter: Int?

        func sample(at now: Int) -> ConversionSample {
            let isApproved = approvedAfter.map { second + $0 <= now } ?? false
            return ConversionSample(
                id: id,
                region: "US",
                client: nil,
                prefix: prefix,
                range: prefix,
                isConfirmed: false,
                outcome: isApproved ? .approved : .open
            )
        }
    }

    /// The first trips, by the second, of messages that arrive in the order of their seconds.
    private func trips(
        _ messages: [Message],
        until end: Int,
        isLow: (Bool) -> Void = { _ in }
    ) -> [(second: Int, key: BrakeKey)] {
        var brake = Brake(rules: BrakeRules())
        defer { brake.removeAll() }
        var found: [(Int, BrakeKey)] = []
        let ages = [3, 15, 30, 60, 120, 240, 600]
        let bySecond = Dictionary(grouping: messages, by: \.second)
        for now in stride(from: 2, through: end, by: 2) {
            for (index, age) in ages.enumerated().reversed() {
                let slice = [now - age - 2, now - age - 1].flatMap { bySecond[$0] ?? [] }
                brake.read(slice.map { $0.sample(at: now) }, age: index == 0 ? nil : index - 1, by: Busy())
            }
            for block in brake.judge(at: .test + .seconds(now), by: Busy()) where block.state == .blocked {
                found.append((now, block.key))
            }
            if !brake.low.isEmpty { isLow(true) }
        }
        return found.map { (second: $0.0, key: $0.1) }
    }

    /// People for so many seconds, each of a prefix of their own but for every fifth, which is one of thirty.
    private func people(_ perSecond: Double, seconds: Range<Int>, approve: Int) -> [Message] {
        var random = TestSeed(seed: 11)
        return (0..<Int(perSecond * Double(seconds.count))).map { number in
            let second = seconds.lowerBound + Int(Double(number) / perSecond)
            return Message(
                id: .version7(at: .test + .seconds(second), using: &random),
                second: second,
                prefix: number % 5 == 0 ? Int64(-1 - number / 5 % 30) : Int64(1_000_000 + number),
                approvedAfter: random.chance(approve) ? 8 + random.below(60) : nil
            )
        }
    }

    @Test func `its prefixes are blocked within two minutes, and neither the region nor another prefix`() throws {
        var random = TestSeed(seed: 12)
        let attack = (0..<1800).map { number in
            let second = 600 + number / 10
            let id = UUIDValue.version7(at: .test + .seconds(second), using: &random)
            return Message(id: id, second: second, prefix: Int64(number % 50), approvedAfter: nil)
        }
        let trips = trips(people(1.5, seconds: 0..<780, approve: 70) + attack, until: 780)
        let first = try #require(trips.first)
        #expect(first.second - 600 <= 120, "\(first.second - 600)")
        #expect(trips.allSatisfy { $0.key.scope == .prefix && (0..<50).contains($0.key.value) })
        #expect(Set(trips.map(\.key)).count == 50)
    }

    @Test(arguments: [(70, false), (64, false), (45, true)])
    func `a provider of a third of the messages that delivers none is told of, and blocks nobody`(
        approve: Int,
        isTold: Bool
    ) {
        var isLow = false
        let people = people(1.5, seconds: 0..<300, approve: 70) + people(1.5, seconds: 300..<3600, approve: approve)
        #expect(trips(people, until: 3600) { isLow = $0 }.isEmpty)
        #expect(isLow == isTold)
    }

    /// Twice the traffic while no code arrives: nobody's prefix is to blame, though thirty lack all approvals.
    @Test func `where the others approve nothing either, none of many is blocked`() {
        let before = people(1.5, seconds: 0..<600, approve: 70)
        let trips = trips(before + people(3.2, seconds: 600..<900, approve: 0), until: 900)
        #expect(trips.isEmpty, "\(trips)")
    }
}
