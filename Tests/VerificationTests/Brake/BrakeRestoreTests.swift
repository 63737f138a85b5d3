// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing

@testable import Verification

/// Tests a brake that continues another one's blocks, and the limits of its memory.
@Suite struct BrakeRestoreTests {
    private struct Usual: ConversionBaseline {
        var volume = 0.0

        func rate(region: String, isConfirmed: Bool) -> ApprovalRate { ApprovalRate(approved: 700, of: 1000) }
        func curve(region: String) -> ApprovalCurve { .usual }
        func usualVolume(region: String, at time: Timestamp) -> Double { volume }
    }

    private static func samples(
        _ count: Int,
        from: Timestamp,
        hasClient: Bool = false,
        outcome: ConversionSample.Outcome = .open,
        prefix: (Int) -> Int64? = { _ in 7 }
    ) -> [ConversionSample] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { number in
            ConversionSample(
                id: .version7(at: from + .milliseconds(number), using: &random),
                region: "DE",
                client: hasClient ? prefix(number) : nil,
                prefix: prefix(number),
                range: prefix(number),
                isConfirmed: false,
                outcome: outcome
            )
        }
    }

    /// The old rows of a prefix leave the window after its young ones have begun new evidence.
    @Test func `a prefix that has tripped before trips again by new rows alone`() {
        var brake = Brake(rules: BrakeRules())
        brake.read(Self.samples(10, from: .test), age: 5, by: Usual())
        brake.read(Self.samples(10, from: .test + .seconds(100)), age: 5, by: Usual())
        #expect(brake.judge(at: .test + .seconds(700), by: Usual()).map(\.key) == [BrakeKey(.prefix, 7)])
        for second in [1000, 1300, 3601] { _ = brake.judge(at: .test + .seconds(second), by: Usual()) }
        #expect(brake.blocks[BrakeKey(.prefix, 7)]?.state == .ended)
        brake.read(Self.samples(7, from: .test + .seconds(3605), outcome: .fraud), age: nil, by: Usual())
        #expect(brake.judge(at: .test + .seconds(3701), by: Usual()).isEmpty)
        brake.read(Self.samples(7, from: .test + .seconds(3705), outcome: .fraud), age: nil, by: Usual())
        #expect(brake.judge(at: .test + .seconds(3706), by: Usual()).map(\.key) == [BrakeKey(.prefix, 7)])
    }

    @Test(arguments: [700, 1000, 1300])
    func `another reader's brake goes on with the blocks, and the same rows trip nothing again`(second: Int) {
        let rows = Self.samples(20, from: .test)
        var first = Brake(rules: BrakeRules())
        first.read(rows, age: 5, by: Usual())
        for second in [700, 1000, 1300].filter({ $0 <= second }) {
            _ = first.judge(at: .test + .seconds(second), by: Usual())
        }
        let blocks = first.blocks
        #expect(blocks.keys.map(\.scope) == [.prefix])
        var other = Brake(rules: BrakeRules(), blocks: blocks.values)
        other.read(rows, age: 5, by: Usual())
        #expect(other.judge(at: .test + .seconds(second + 2), by: Usual()).isEmpty)
        #expect(other.blocks == blocks)
        #expect(rows.allSatisfy(other.isExplained))
    }

    @Test func `the probes that another reader has seen count once`() throws {
        var brake = Brake(rules: BrakeRules())
        let rows = Self.samples(20, from: .test)
        brake.read(rows, age: 5, by: Usual())
        _ = brake.judge(at: .test + .seconds(600), by: Usual())
        let open = brake.judge(at: .test + .seconds(900), by: Usual())
        let probes = Self.samples(5, from: .test + .seconds(905))
        brake.read(probes, age: 1, by: Usual())
        brake.read(probes, age: 2, by: Usual())
        #expect(brake.blocks[BrakeKey(.prefix, 7)]?.probesSent == 5)
        var other = Brake(rules: BrakeRules(), blocks: open)
        other.read(rows + probes, age: 2, by: Usual())
        #expect(other.blocks[BrakeKey(.prefix, 7)]?.probesSent == 5)
    }

    @Test func `a lifted block ends, and what it explained stays explained`() {
        var brake = Brake(rules: BrakeRules())
        brake.read(Self.samples(20, from: .test), age: 5, by: Usual())
        _ = brake.judge(at: .test + .seconds(600), by: Usual())
        for key in brake.blocks.keys { brake.lift(key, at: .test + .seconds(610)) }
        #expect(brake.blocks.values.allSatisfy { $0.state == .ended && $0.changesAt == .test + .seconds(610) })
        #expect(brake.judge(at: .test + .seconds(612), by: Usual()).isEmpty)
    }

    @Test func `new rules change the next block, not one that is in force`() {
        var brake = Brake(rules: BrakeRules())
        brake.read(Self.samples(20, from: .test), age: 5, by: Usual())
        _ = brake.judge(at: .test + .seconds(600), by: Usual())
        brake.rules.firstBlock = .seconds(60)
        #expect(brake.blocks.values.allSatisfy { $0.length == .seconds(300) })
        brake.read(Self.samples(20, from: .test + .seconds(601)) { _ in 8 }, age: 5, by: Usual())
        _ = brake.judge(at: .test + .seconds(1201), by: Usual())
        #expect(brake.blocks[BrakeKey(.prefix, 8)]?.length == .seconds(60))
    }

    @Test func `a block is forgotten a day after its end`() {
        var brake = Brake(rules: BrakeRules())
        brake.read(Self.samples(20, from: .test), age: 5, by: Usual())
        for second in [600, 900, 1200] { _ = brake.judge(at: .test + .seconds(second), by: Usual()) }
        _ = brake.judge(at: .test + .seconds(1200 + 86400), by: Usual())
        #expect(!brake.blocks.isEmpty)
        _ = brake.judge(at: .test + .seconds(1201 + 86400), by: Usual())
        #expect(brake.blocks.isEmpty)
    }

    /// Each verification has three keys that no other one has.
    @Test func `an attack with only different keys cannot fill the memory`() {
        var brake = Brake(rules: BrakeRules())
        var largest = 0
        for slice in 0..<100 {
            let rows = Self.samples(500, from: .test + .seconds(2 * slice), hasClient: true) { Int64(slice * 500 + $0) }
            brake.read(rows, age: nil, by: Usual())
            brake.shrink(to: 4000)
            largest = max(largest, brake.size)
        }
        #expect(largest <= 4000 && largest > 3980)
        #expect(brake.verifications > 390)
        // A forgotten verification does not begin again at a later age.
        brake.read(Self.samples(500, from: .test), age: 5, by: Usual())
        #expect(brake.size == largest)
        _ = brake.judge(at: .test + .seconds(3900), by: Usual())
        #expect(brake.size == 0)
    }

    @Test func `a region that lacks approvals is low, not tripped, unless it has more traffic than usual`() {
        for (volume, isLow) in [(100.0, true), (10.0, false)] {
            var brake = Brake(rules: BrakeRules())
            let usual = Usual(volume: volume)
            brake.read(Self.samples(100, from: .test) { _ in nil }, age: 5, by: usual)
            let tripped = brake.judge(at: .test + .seconds(600), by: usual)
            #expect(tripped.map(\.key.scope) == (isLow ? [] : [.region]))
            #expect((brake.low["DE"] != nil) == isLow)
            _ = brake.judge(at: .test + .seconds(4201), by: usual)
            #expect(brake.low.isEmpty)
        }
    }
}
