// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("policy simulate", .timeLimit(.minutes(2)))
struct PolicySimulateTests {
    private func replay(
        _ records: [InboundRecord],
        current: Policy = .test(),
        candidate: Policy
    ) -> ReplayReport {
        var replay = PolicyReplay(
            policies: Pair(current: current, candidate: candidate),
            numbers: CallingCodes(),
            maxRequestAge: .seconds(300),
            latest: .test + .seconds(864_000)
        )
        for record in records { replay.replay(record) }
        return replay.report
    }

    private func requests(_ phoneNumbers: [String], at seconds: [Int]) -> [InboundRecord] {
        zip(phoneNumbers, seconds).enumerated().map { index, request in
            .request(id: "r\(index)", phoneNumber: request.0, offset: Int64(index), at: .test + .seconds(request.1))
        }
    }

    private static func regions(_ codes: String) -> RegionPolicy {
        RegionPolicy(.allowlistOnly(allowed: Set(codes.split(separator: " ").compactMap { Region($0) })))
    }

    @Test func `a list that blocks a region flips exactly that region's requests`() throws {
        let records = requests(
            ["+4915123456789", "+33612345678", "+4915123456780", "+447400123456"],
            at: [0, 1, 2, 3]
        )
        let report = replay(records, candidate: .test { $0.regions = Self.regions("US GB FR IN") })
        let flip = ReplayReport.Flip(
            tenant: "default",
            region: "DE",
            from: SimulatedDecision(.sent),
            to: SimulatedDecision(.rejected, rule: "regions", reason: "region_not_allowed")
        )
        #expect(report.flips == [flip: 2])
        #expect(report.sendsSaved == 2)
        #expect(report.sends["DE"] == Pair(current: 2, candidate: 0))
        #expect(report.sends["FR"] == Pair(current: 1, candidate: 1))
        #expect(report.refusals == ["regions": Pair(current: 0, candidate: 2)])
    }

    @Test func `a longer resend window saves messages`() {
        let records = requests(Array(repeating: "+4915123456789", count: 4), at: [0, 59, 60, 180])
        let report = replay(records, candidate: .test { $0.resend.windows = [.seconds(90), .seconds(120)] })
        // The current policy sends at 0, 60 and 180 s; the candidate, with a 90 s window, sends at 0 and 180 s.
        #expect(report.decisions[.sent] == Pair(current: 3, candidate: 2))
        #expect(report.decisions[.suppressed] == Pair(current: 1, candidate: 2))
        #expect(report.sendsSaved == 1)
        #expect(
            report.flips.keys.map(\.to) == [
                SimulatedDecision(.suppressed, rule: "slot.resend_window", reason: "resend_window")
            ]
        )
    }

    @Test func `a stricter limit refuses what comes beyond it, and counts only what it lets through`() {
        let phoneNumbers = (0..<6).map { "+491512345670\($0)" }
        let limited = Policy.test { $0.limits.perTenant = [RateLimit(count: 2, per: .seconds(10))] }
        let report = replay(requests(phoneNumbers, at: [0, 1, 2, 9, 10, 11]), candidate: limited)
        #expect(report.decisions[.sent] == Pair(current: 6, candidate: 4))
        #expect(report.refusals == ["limits.perTenant.2/10s": Pair(current: 0, candidate: 2)])
    }

    @Test func `a limit that stands twice counts once`() {
        let phoneNumbers = (0..<3).map { "+491512345670\($0)" }
        let limit = RateLimit(count: 2, per: .seconds(10))
        let report = replay(
            requests(phoneNumbers, at: [0, 1, 2]),
            current: .test { $0.limits.perTenant = [limit] },
            candidate: .test { $0.limits.perTenant = [limit, limit] }
        )
        #expect(report.decisions[.sent] == Pair(current: 2, candidate: 2))
        #expect(report.flips.isEmpty)
    }

    @Test func `without a route a message fails, and the person may ask again at once`() {
        let records = (0..<3).map { index in
            InboundRecord.email(id: "r\(index)", offset: Int64(index), at: .test + .seconds(index))
        }
        let report = replay(records, current: .test { $0.routes.email = ["mailer"] }, candidate: .test())
        #expect(report.decisions[.sent] == Pair(current: 1, candidate: 0))
        #expect(report.decisions[.suppressed] == Pair(current: 2, candidate: 0))
        // Failed sends also count against the person's limit of two in ten seconds.
        #expect(report.decisions[.failed] == Pair(current: 0, candidate: 2))
        #expect(report.refusals == ["limits.perRecipient.2/10s": Pair(current: 0, candidate: 1)])
        let flip = ReplayReport.Flip(
            tenant: "default",
            region: "-",
            from: SimulatedDecision(.sent),
            to: SimulatedDecision(.failed, rule: "routes", reason: "no_route")
        )
        #expect(report.flips[flip] == 1)
    }

    @Test func `what breaks the rules for fields is judged by each policy`() {
        let both = Policy(version: "2", tenants: Policy.test().tenants.merging(["new": .example]) { old, _ in old })
        let more = #","tenant":"new","deadline":7"#
        let report = replay([.request(id: "a", at: .test, more: more)], candidate: both)
        #expect(
            report.refusals == [
                "tenant": Pair(current: 1, candidate: 0), "shape.deadline": Pair(current: 0, candidate: 1),
            ]
        )
    }

    @Test func `a record from a clock that is ahead is decided at the time of the one before it`() {
        let tooLate = 100 * 86_400
        let report = replay(
            requests(["+4915123456780", "+4915123456781", "+4915123456782"], at: [0, tooLate, 1]),
            candidate: .test()
        )
        #expect(report.records == 3)
        #expect(report.last == .test + .seconds(1))
    }

    @Test func `repeats, conflicts and what cannot be read are told apart`() {
        let records: [InboundRecord] = [
            .request(id: "a", offset: 0, at: .test), .request(id: "a", offset: 1, at: .test + .seconds(1)),
            .request(id: "a", phoneNumber: "+33612345678", offset: 2, at: .test + .seconds(2)),
            .raw("{", offset: 3, at: .test),
        ]
        let report = replay(records, candidate: .test())
        #expect(report.records == 4)
        #expect(report.decisions[.sent]?.current == 1)
        #expect(report.decisions[.repeated]?.current == 1)
        #expect(report.refusals["request_id"]?.current == 1)
        #expect(report.decisions[.deadLetter]?.current == 1)
        #expect(report.flips.isEmpty)
    }

    @Test func `the same policy flips nothing`() {
        var seed = TestSeed("the same policy flips nothing")
        for _ in 0..<20 {
            let report = replay(History.records(300, using: &seed), candidate: .test())
            #expect(report.records == 300)
            #expect(report.flips.isEmpty)
            #expect(report.sendsSaved == 0)
            #expect(report.decisions.values.allSatisfy { $0.current == $0.candidate })
        }
    }

    @Test func `forgetting what is over changes no decision`() {
        var seed = TestSeed("forgetting what is over changes no decision")
        let policy = Policy.test { tenant in
            tenant.limits.perTenant = [RateLimit(count: 40, per: .seconds(600))]
            tenant.limits.perRecipient = [RateLimit(count: 3, per: .seconds(120))]
            tenant.limits.perIP = [RateLimit(count: 5, per: .seconds(60))]
        }
        var sizes = (forgetful: 0, retentive: 0)
        for _ in 0..<20 {
            let screener = Screener(policy: policy, keys: .test, numbers: CallingCodes())
            var forgetful = PolicySimulation(policy: policy, keys: .test, maxRequestAge: .seconds(300), sizeToForget: 1)
            var retentive = PolicySimulation(
                policy: policy,
                keys: .test,
                maxRequestAge: .seconds(300),
                sizeToForget: .max
            )
            for record in History.records(300, using: &seed) {
                let now = record.timestamp ?? .test
                let candidate = screener.candidate(for: record, now: now, using: &seed)
                let (first, second) = (forgetful.decide(candidate, at: now), retentive.decide(candidate, at: now))
                #expect(first == second)
            }
            sizes.forgetful += forgetful.size
            sizes.retentive += retentive.size
        }
        #expect(sizes.forgetful < sizes.retentive)
    }

    @Test func `memory does not grow with the range`() {
        let policy = Policy.test { $0.limits.perRecipient = [RateLimit(count: 2, per: .seconds(60))] }
        let screener = Screener(policy: policy, keys: .test, numbers: CallingCodes())
        var simulation = PolicySimulation(policy: policy, keys: .test, maxRequestAge: .seconds(300), sizeToForget: 100)
        var largest = 0
        for index in 0..<5000 {
            let now = Timestamp.test + .seconds(10 * index)
            let record = InboundRecord.request(
                id: "r\(index)",
                phoneNumber: "+49151\(10_000_000 + index)",
                offset: Int64(index),
                at: now
            )
            let decision = simulation.decide(screener.candidate(for: record, now: now), at: now)
            #expect(decision.kind == .sent)
            largest = max(largest, simulation.size)
        }
        // About sixty slots and six windows are live at once, and cleanup waits until that number has doubled.
        #expect(largest < 250)
    }

    @Test func `no output has a number`() throws {
        let records = requests(["+4915123456789", "+33612345678"], at: [0, 1])
        let report = replay(records, candidate: .test { $0.regions = Self.regions("FR") })
        let text = report.text(policies: Pair(current: "a.yaml", candidate: "b.yaml")).joined(separator: "\n")
        let json = report.json(versions: Pair(current: "1", candidate: "2"))
        for output in [text, String(decoding: json, as: UTF8.self)] {
            #expect(!output.contains("23456789"))
            #expect(!output.contains("12345678"))
            #expect(output.contains("region"))
        }
        guard case .object(let object) = try JSONScanner.parse(json), case .number(let saved)? = object["messagesSaved"]
        else {
            Issue.record("the output is a JSON object that tells the messages saved")
            return
        }
        #expect(saved.int64 == 1)
        #expect(text.contains("default  DE      sent     rejected by regions         1"))
    }
}

extension TenantPolicy {
    fileprivate static let example = TenantPolicy(
        appName: "New",
        regions: RegionPolicy(.allowByDefault(disallowed: [])),
        routes: Routes(fallback: ["main"])
    )
}

/// A directory that derives the region from the calling code only.
struct CallingCodes: NumberDirectory {
    func facts(of number: PhoneNumber) -> NumberFacts {
        let codes = [("+49", "DE"), ("+33", "FR"), ("+44", "GB"), ("+1", "US"), ("+47", "NO")]
        let code = codes.first { number.e164.hasPrefix($0.0) }?.1 ?? "XX"
        let region = Region(code) ?? .unknown
        return NumberFacts(region: region, candidates: [region], isValid: true, type: .mobile)
    }
}

/// Random requests, mostly of few people, so that they reach windows and limits.
private enum History {
    static func records(_ count: Int, using seed: inout TestSeed) -> [InboundRecord] {
        var time = Timestamp.test
        return (0..<count).map { index in
            time = time + .milliseconds(seed.chance(1) ? 900_000 : seed.pick([0, 1, 999, 5000, 10_000, 20_000]))
            let prefix = seed.pick(["+49", "+33", "+47", "+44"])
            let person = seed.chance(80) ? "15123456\(seed.below(2))" : "15\(1_000_000 + index)"
            let ip = #","client":{"ip":"192.0.2.\#(seed.below(3))"}"#
            return .request(
                id: "r\(seed.below(count))",
                phoneNumber: prefix + person,
                purpose: seed.pick(["sign_in", "sign_up"]),
                offset: Int64(index),
                partition: Int32(seed.below(3)),
                at: time,
                more: seed.chance(50) ? ip : ""
            )
        }
    }
}
