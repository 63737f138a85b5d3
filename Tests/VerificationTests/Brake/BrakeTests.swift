// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
import TestSupport
import Testing

@testable import Verification

@Suite struct BrakeTests {
    /// The seed of a simulation; `COURIER_TEST_SEED` replaces it.
    private static func seed(_ usual: UInt64) -> UInt64 {
        getenv("COURIER_TEST_SEED").flatMap { UInt64(String(cString: $0)) } ?? usual
    }

    private static func show(_ attack: BrakeSimulation.Attack, _ result: BrakeSimulation.Result) {
        let first = result.firstBlock.map { "\($0)" } ?? "-"
        print(
            "simulated \(attack): left \(result.left), honest refused \(result.honestRefused) of \(result.honest) "
                + "(launch \(result.launchRefused), outage \(result.outageRefused)), first block \(first) s, "
                + "stuck \(result.stuck)"
        )
    }

    @Test(arguments: [(1, 0.5), (2, 0.66), (3, 0.85)])
    func `a day without an attack refuses nobody, through an outage and a launch`(
        seed: UInt64,
        conversion: Double
    ) {
        var simulation = BrakeSimulation(seed: Self.seed(seed), conversion: conversion, honest: 30_000)
        let result = simulation.run(.none)
        Self.show(.none, result)
        #expect(result.honestRefused == 0)
        #expect(result.trips.isEmpty)
    }

    @Test func `ten times the sign-ups of a known region refuse nobody`() {
        var simulation = BrakeSimulation(seed: Self.seed(4), honest: 30_000)
        let result = simulation.run(.spike)
        Self.show(.spike, result)
        #expect(result.honestRefused == 0)
    }

    @Test(arguments: [BrakeSimulation.Attack.prefix, .address, .range])
    func `an attack with something narrow in common is stopped and nobody else`(attack: BrakeSimulation.Attack) throws {
        var simulation = BrakeSimulation(seed: Self.seed(5), honest: 30_000)
        let result = simulation.run(attack)
        Self.show(attack, result)
        #expect(result.left <= 0.015)
        #expect(result.honestRefused == 0)
        #expect(try #require(result.firstBlock) <= 35)
        #expect(result.stuck == 0)
    }

    @Test func `a slow attack on ten ranges is stopped, and hardly anybody else`() {
        var simulation = BrakeSimulation(seed: Self.seed(6), honest: 30_000)
        let result = simulation.run(.slow)
        Self.show(.slow, result)
        #expect(result.left <= 0.01)
        #expect(result.refused <= 0.0005)
        #expect(result.stuck == 0)
    }

    @Test func `an attack on 200 prefixes of all regions is stopped and nobody else`() {
        var simulation = BrakeSimulation(seed: Self.seed(7), honest: 30_000)
        let result = simulation.run(.spread)
        Self.show(.spread, result)
        #expect(result.left <= 0.05)
        #expect(result.honestRefused == 0)
        #expect(result.stuck == 0)
    }

    @Test func `an attack among the people of one region is stopped, and few of them`() {
        var simulation = BrakeSimulation(seed: Self.seed(8), honest: 50_000)
        let result = simulation.run(.region)
        Self.show(.region, result)
        #expect(result.left <= 0.015)
        #expect(result.refused <= 0.0015)
        #expect(result.stuck == 0)
    }

    @Test func `confirmed people, whom no block stops, neither end one nor prolong it`() throws {
        func people(_ count: Int, from: Timestamp, isConfirmed: Bool, isApproved: Bool) -> [ConversionSample] {
            var random = SystemRandomNumberGenerator()
            return (0..<count).map { number in
                ConversionSample(
                    id: .version7(at: from + .milliseconds(number), using: &random),
                    region: "DE",
                    client: nil,
                    prefix: nil,
                    range: nil,
                    isConfirmed: isConfirmed,
                    outcome: isApproved ? .approved : .open
                )
            }
        }
        for (isConfirmed, state) in [(true, BrakeBlock.State.halfOpen), (false, .ended)] {
            var brake = Brake(rules: BrakeRules())
            brake.read(people(60, from: .test, isConfirmed: false, isApproved: false), age: 5, by: Usual())
            let trip = .test + .seconds(600)
            #expect(brake.judge(at: trip, by: Usual()).map(\.state) == [.blocked])
            let open = trip + .seconds(300)
            #expect(brake.judge(at: open, by: Usual()).map(\.state) == [.halfOpen])
            let passing = people(9, from: open + .seconds(1), isConfirmed: isConfirmed, isApproved: true)
            brake.read(passing, age: 0, by: Usual())
            _ = brake.judge(at: open + .seconds(20), by: Usual())
            #expect(brake.blocks[BrakeKey(region: "DE")]?.state == state)
        }
    }

    // MARK: One scope

    private struct Usual: ConversionBaseline {
        func rate(region: String, isConfirmed: Bool) -> ApprovalRate { ApprovalRate(approved: 700, of: 1000) }
        func curve(region: String) -> ApprovalCurve { .usual }
        func usualVolume(region: String, at time: Timestamp) -> Double { 0 }
    }

    private static func samples(
        _ count: Int,
        from: Timestamp,
        prefix: Int64 = 7,
        isConfirmed: Bool = false,
        outcome: ConversionSample.Outcome = .open
    ) -> [ConversionSample] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { number in
            ConversionSample(
                id: .version7(at: from + .milliseconds(number), using: &random),
                region: "DE",
                client: nil,
                prefix: prefix,
                range: 1,
                isConfirmed: isConfirmed,
                outcome: outcome
            )
        }
    }

    @Test func `a trip takes its verifications out of the range and the region`() throws {
        var brake = Brake(rules: BrakeRules())
        brake.read(Self.samples(20, from: .test), age: 5, by: Usual())
        let tripped = brake.judge(at: .test + .seconds(600), by: Usual())
        #expect(tripped.map(\.key) == [BrakeKey(.prefix, 7)])
        let block = try #require(tripped.first)
        #expect(block.shortfall.observed == 0 && abs(block.shortfall.expected - 14) < 0.1)
        #expect(brake.judge(at: .test + .seconds(602), by: Usual()).isEmpty)
    }

    @Test func `confirmed people trip no narrow scope, and what was never sent counts for none`() {
        var brake = Brake(rules: BrakeRules())
        brake.read(Self.samples(30, from: .test, isConfirmed: true), age: 5, by: Usual())
        brake.read(Self.samples(30, from: .test + .seconds(1), outcome: .unsent), age: 5, by: Usual())
        #expect(brake.judge(at: .test + .seconds(600), by: Usual()).isEmpty)
        #expect(brake.verifications == 60)
    }

    @Test func `a message that waits counts for none until it has left`() {
        var brake = Brake(rules: BrakeRules())
        let waiting = Self.samples(30, from: .test, outcome: .waiting)
        for age in [nil, 0, 5] {
            brake.read(waiting, age: age, by: Usual())
            #expect(brake.judge(at: .test + .seconds(600), by: Usual()).isEmpty)
        }
        let left = waiting.map { sample in
            ConversionSample(
                id: sample.id,
                region: "DE",
                client: nil,
                prefix: 7,
                range: 1,
                isConfirmed: false,
                outcome: .open
            )
        }
        brake.read(left, age: 5, by: Usual())
        #expect(brake.judge(at: .test + .seconds(601), by: Usual()).map(\.key) == [BrakeKey(.prefix, 7)])
    }

    @Test func `a provider's word of fraud counts at once`() {
        var brake = Brake(rules: BrakeRules())
        brake.read(Self.samples(20, from: .test, outcome: .fraud), age: nil, by: Usual())
        #expect(brake.judge(at: .test + .seconds(3), by: Usual()).map(\.key.scope) == [.prefix])
    }

    @Test func `what is older than an hour is forgotten`() {
        var brake = Brake(rules: BrakeRules())
        brake.read(Self.samples(12, from: .test), age: 5, by: Usual())
        _ = brake.judge(at: .test + .seconds(3601), by: Usual())
        #expect(brake.verifications == 0)
        brake.read(Self.samples(12, from: .test + .seconds(3590)), age: 5, by: Usual())
        #expect(brake.judge(at: .test + .seconds(4190), by: Usual()).isEmpty)
    }

    /// A brake with one prefix that is half open since `.test + 900 s`.
    private static func halfOpen() -> Brake {
        var brake = Brake(rules: BrakeRules())
        brake.read(samples(20, from: .test), age: 5, by: Usual())
        _ = brake.judge(at: .test + .seconds(600), by: Usual())
        let changed = brake.judge(at: .test + .seconds(900), by: Usual())
        #expect(changed.map(\.state) == [.halfOpen])
        return brake
    }

    @Test func `two approved probes end a block`() {
        var brake = Self.halfOpen()
        brake.read(Self.samples(2, from: .test + .seconds(905), outcome: .approved), age: 1, by: Usual())
        #expect(brake.judge(at: .test + .seconds(935), by: Usual()).map(\.state) == [.ended])
    }

    @Test func `six probes without an approval in 90 s block for twice as long`() throws {
        var brake = Self.halfOpen()
        brake.read(Self.samples(6, from: .test + .seconds(905)), age: 1, by: Usual())
        #expect(brake.judge(at: .test + .seconds(989), by: Usual()).isEmpty)
        let again = try #require(brake.judge(at: .test + .seconds(990), by: Usual()).first)
        #expect(again.state == .blocked && again.trips == 2 && again.length == .seconds(600))
    }

    @Test func `a scope that nobody asks for opens after the time of its block`() {
        var brake = Self.halfOpen()
        #expect(brake.judge(at: .test + .seconds(1199), by: Usual()).isEmpty)
        #expect(brake.judge(at: .test + .seconds(1200), by: Usual()).map(\.state) == [.ended])
    }

    @Test func `a scope stays half open while requests are refused`() {
        var brake = Self.halfOpen()
        brake.noteRefusal(by: BrakeKey(.prefix, 7), at: .test + .seconds(1100))
        #expect(brake.judge(at: .test + .seconds(1399), by: Usual()).isEmpty)
        #expect(brake.judge(at: .test + .seconds(1400), by: Usual()).map(\.state) == [.ended])
    }

    @Test func `a block doubles up to its longest, and is short again after a day without one`() {
        let rules = BrakeRules()
        #expect((1...4).map { rules.block(trips: $0) } == [300, 600, 1200, 2400].map { .seconds($0) })
        #expect(rules.block(trips: 40) == .seconds(43200))
        var block = BrakeBlock(
            BrakeKey(.ip, 1),
            region: "DE",
            shortfall: Shortfall(expected: 10, observed: 0),
            rules: rules,
            at: .test
        )
        _ = block.advance(to: .test + .seconds(300), rules: rules)
        _ = block.advance(to: .test + .seconds(600), rules: rules)
        #expect(block.state == .ended)
        block.trip(Shortfall(expected: 10, observed: 0), rules: rules, at: .test + .seconds(700))
        #expect(block.trips == 2)
        _ = block.advance(to: .test + .seconds(1300), rules: rules)
        _ = block.advance(to: .test + .seconds(1900), rules: rules)
        block.trip(Shortfall(expected: 10, observed: 0), rules: rules, at: .test + .seconds(90000))
        #expect(block.trips == 1)
    }

    // MARK: Evidence

    @Test func `surprise is the exponent of Chernoff's bound`() {
        #expect(Shortfall(expected: 10, observed: 0).surprise == 10)
        #expect(abs(Shortfall(expected: 10, observed: 2).surprise - 4.781) < 0.001)
        #expect(Shortfall(expected: 10, observed: 10).surprise == 0)
        #expect(Shortfall(expected: 10, observed: 11).surprise == 0)
    }

    @Test func `evidence needs enough expected approvals, few observed ones, and surprise`() {
        let threshold = BrakeScope.prefix.threshold
        #expect(Shortfall(expected: 9.2, observed: 0).exceeds(threshold, sensitivity: 1))
        #expect(!Shortfall(expected: 9.1, observed: 0).exceeds(threshold, sensitivity: 1))
        #expect(Shortfall(expected: 4.6, observed: 0).exceeds(threshold, sensitivity: 2))
        #expect(!Shortfall(expected: 3.9, observed: 0).exceeds(threshold, sensitivity: 4))
        #expect(!Shortfall(expected: 100, observed: 25).exceeds(threshold, sensitivity: 1))
        #expect(Shortfall(expected: 100, observed: 24).exceeds(threshold, sensitivity: 1))
    }

    @Test func `a curve is made of 200 approvals at least`() {
        #expect(ApprovalCurve(counts: [0, 10, 50, 100, 150, 190, 199]) == nil)
        #expect(ApprovalCurve(counts: [0, 10, 50, 100, 150, 200, 200])?.parts == [0, 0.05, 0.25, 0.5, 0.75, 1])
        #expect(ApprovalCurve(counts: [200]) == nil)
    }
}
