// SPDX-License-Identifier: Apache-2.0

import Formats
import TestTools
import Testing

@testable import Verification

@Suite struct SilentRoutesTests {
    private struct Knowledge: ConversionBaseline {
        var usual = 0.0

        func rate(region: String, isConfirmed: Bool) -> ApprovalRate { ApprovalRate(approved: 0.7e6, of: 1e6) }
        func curve(region: String) -> ApprovalCurve { .usual }
        func usualVolume(region: String, at time: Timestamp) -> Double { usual }
    }

    /// One region's routes, fed by messages that have come to the last age.
    private struct Desk {
        static let start = Timestamp(microseconds: 1_700_000_000_000_000)

        var routes = SilentRoutes()
        var now = start
        var knowledge = Knowledge(usual: 1000)
        private var random = TestSeed(seed: 1)

        mutating func read(
            _ provider: String,
            _ count: Int,
            approved: Int,
            region: String = "DE",
            outcome: ConversionSample.Outcome = .open,
            sends: Int = 1,
            isExplained: Bool = false
        ) {
            for index in 0..<count {
                // Minutes apart, so that no minute has more than it keeps.
                let began = now - .seconds(600) - .seconds(60 * (index / 20))
                let id = UUIDValue.version7(at: began, using: &random)
                let sample = ConversionSample(
                    id: id,
                    region: region,
                    client: nil,
                    prefix: nil,
                    range: nil,
                    isConfirmed: false,
                    outcome: index < approved ? .approved : outcome,
                    provider: sends > 1 ? "other" : provider,
                    firstProvider: provider,
                    sends: sends
                )
                routes.read(sample, age: nil, isExplained: false, by: knowledge)
                routes.read(sample, age: 5, isExplained: isExplained, by: knowledge)
            }
        }

        mutating func judge(hasAlternative: Bool = true) -> [String] {
            routes.judge(at: now, by: knowledge) { _ in hasAlternative }.map { change in
                "\(change.place.provider) \(change.silence.map { ($0.until - $0.since).description } ?? "recovered")"
            }
        }
    }

    @Test func `a provider whose messages nobody approves is silent, for longer each time, until it delivers`() {
        var desk = Desk()
        var lengths: [String] = []
        for minutes in [15, 30, 60, 120, 240, 240] {
            desk.read("main", 30, approved: 0)
            desk.read("backup", 30, approved: 20)
            lengths.append(contentsOf: desk.judge())
            #expect(desk.routes.silent(in: "DE", at: desk.now)["main"]?.until == desk.now + .seconds(60 * minutes))
            #expect(desk.judge() == [], "one verdict, one silence")
            // Its earlier messages are spent: the end of the silence alone repeats nothing.
            desk.now = desk.now + .seconds(60 * minutes + 601)
            #expect(desk.judge() == [] && desk.routes.silent(in: "DE", at: desk.now).isEmpty)
            desk.now = desk.now + .seconds(1800)
        }
        #expect(lengths == [900, 1800, 3600, 7200, 14_400, 14_400].map { "main \(Duration.seconds($0))" })
        desk.read("main", 10, approved: 6)
        #expect(desk.judge() == ["main recovered"])
        desk.now = desk.now + .seconds(3600)
        desk.read("main", 30, approved: 0)
        desk.read("backup", 30, approved: 20)
        #expect(desk.judge() == ["main \(Duration.seconds(900))"])
    }

    @Test func `messages from before a silence are no evidence after it`() {
        var desk = Desk()
        desk.read("main", 30, approved: 0)
        desk.read("backup", 30, approved: 20)
        #expect(desk.judge().count == 1)
        // The same minutes again, read late: the silence is their verdict, too.
        desk.read("main", 30, approved: 0)
        desk.now = desk.now + .seconds(901)
        #expect(desk.judge() == [])
    }

    @Test func `a provider that delivers again is heard during its silence`() {
        var desk = Desk()
        desk.read("main", 30, approved: 0)
        desk.read("backup", 30, approved: 20)
        _ = desk.judge()
        desk.now = desk.now + .seconds(800)
        desk.read("main", 8, approved: 6)
        #expect(desk.judge() == ["main recovered"])
        #expect(desk.routes.silent(in: "DE", at: desk.now).isEmpty)
    }

    @Test func `if nobody's messages are approved, no provider is the cause`() {
        var desk = Desk()
        desk.read("main", 60, approved: 0)
        desk.read("backup", 60, approved: 3)
        #expect(desk.judge() == [])
    }

    @Test func `if nobody's messages are approved any more, no provider is the cause`() {
        var desk = Desk()
        desk.now = desk.now - .seconds(600)
        desk.read("main", 60, approved: 42)
        desk.read("backup", 60, approved: 42)
        desk.now = desk.now + .seconds(600)
        desk.read("main", 60, approved: 0)
        desk.read("backup", 60, approved: 0)
        #expect(desk.judge() == [])
    }

    @Test func `a few approvals of others are luck where an attack lowers all alike`() {
        // Three of ten, and one of ten: by chance as often as not.
        var desk = Desk()
        desk.knowledge.usual = 20
        desk.read("main", 60, approved: 6)
        desk.read("backup", 8, approved: 3)
        #expect(desk.judge() == [])
        desk.read("backup", 30, approved: 20)
        #expect(desk.judge() == ["main \(Duration.seconds(900))"])
    }

    @Test func `a provider that has all the traffic is silent, unless the traffic is more than usual`() {
        for (usual, verdicts) in [(200.0, ["main \(Duration.seconds(900))"]), (20.0, [])] {
            var desk = Desk()
            desk.knowledge.usual = usual
            desk.read("main", 60, approved: 0)
            #expect(desk.judge() == verdicts)
        }
    }

    @Test func `no provider without an alternative is silent`() {
        var desk = Desk()
        desk.read("main", 30, approved: 0)
        desk.read("backup", 30, approved: 20)
        #expect(desk.judge(hasAlternative: false) == [])
    }

    @Test func `few messages, fraud and what a block explains are no evidence`() {
        var desk = Desk()
        desk.read("backup", 30, approved: 20)
        desk.read("main", 12, approved: 0)
        #expect(desk.judge() == [])
        desk.read("main", 60, approved: 0, outcome: .fraud)
        desk.read("main", 60, approved: 0, isExplained: true)
        #expect(desk.judge() == [])
        desk.read("main", 4, approved: 0)
        #expect(desk.judge().count == 1)
    }

    @Test func `a code that only the second message brought is none of the first provider`() {
        var desk = Desk()
        desk.read("backup", 30, approved: 20)
        desk.read("main", 30, approved: 30, sends: 2)
        #expect(desk.judge() == ["main \(Duration.seconds(900))"])
    }

    @Test func `each region has its own verdict`() {
        var desk = Desk()
        for region in ["DE", "FR"] {
            desk.read("main", 30, approved: region == "DE" ? 0 : 20, region: region)
            desk.read("backup", 30, approved: 20, region: region)
        }
        #expect(desk.judge().count == 1)
        #expect(desk.routes.silent(in: "FR", at: desk.now).isEmpty)
    }

    @Test func `memory has a bound, whatever the traffic`() {
        var desk = Desk()
        let second = desk.now - .seconds(700)
        var random = TestSeed(seed: 2)
        for _ in 0..<5000 {
            let sample = ConversionSample(
                id: .version7(at: second, using: &random),
                region: "DE",
                client: nil,
                prefix: nil,
                range: nil,
                isConfirmed: false,
                outcome: .open,
                provider: "main"
            )
            desk.routes.read(sample, age: 5, isExplained: false, by: desk.knowledge)
        }
        #expect(desk.routes.size == SilentRoutes.sample)
    }
}
