// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import TestSupport
import Testing
import Verification

@testable import CodeCourier

@Suite("policy simulate", .timeLimit(.minutes(2)))
struct PolicySimulateTests {
    private func replay(
        _ records: [InboundRecord],
        current: Policy = .test(),
        candidate: Policy,
        numbers: any NumberDirectory = CallingCodes()
    ) -> ReplayReport {
        var replay = PolicyReplay(
            policies: Pair(current: current, candidate: candidate),
            numbers: numbers,
            maxRequestAge: .seconds(300),
            latest: .test + .seconds(864_000)
        )
        for record in records { replay.replay(record) }
        return replay.report
    }

    /// One request after the other, at the given seconds.
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
        // Now at 0, 60 and 180 s; with 90 s at 0 and 180 s.
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
            var forgetful = SimulatedLedger(policy: policy, keys: .test, maxRequestAge: .seconds(300), sizeToForget: 1)
            var retentive = SimulatedLedger(
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
        var ledger = SimulatedLedger(policy: policy, keys: .test, maxRequestAge: .seconds(300), sizeToForget: 100)
        var largest = 0
        for index in 0..<5000 {
            let now = Timestamp.test + .seconds(10 * index)
            let record = InboundRecord.request(
                id: "r\(index)",
                phoneNumber: "+49151\(10_000_000 + index)",
                offset: Int64(index),
                at: now
            )
            let decision = ledger.decide(screener.candidate(for: record, now: now), at: now)
            #expect(decision.kind == .sent)
            largest = max(largest, ledger.size)
        }
        // Sixty live slots and six windows at a time, and as much again before it is looked through.
        #expect(largest < 250)
    }

    @Test func `records of several partitions come in the order of their times, those of one in their own`() {
        var seed = TestSeed("reorder buffer")
        var buffer = ReorderBuffer(capacity: 200)
        var clocks = [0, 0, 0, 0]
        var ordered: [InboundRecord] = []
        for index in 0..<400 {
            let partition = seed.below(4)
            clocks[partition] += seed.below(10) - 2
            let time = Timestamp.test + .seconds(clocks[partition])
            let record = InboundRecord.raw("\(index)", offset: Int64(index), partition: Int32(partition), at: time)
            if let earliest = buffer.insert(record) { ordered.append(earliest) }
        }
        while let record = buffer.popFirst() { ordered.append(record) }
        #expect(ordered.count == 400)
        #expect(buffer.lateCount == 0)
        for partition in Int32(0)..<4 {
            let offsets = ordered.filter { $0.partition == partition }.map(\.offset)
            #expect(offsets == offsets.sorted())
        }
        var newest: [Int32: Timestamp] = [:]
        let arrivals = ordered.map { record in
            newest[record.partition] = max(newest[record.partition] ?? .test, record.timestamp ?? .test)
            return newest[record.partition] ?? .test
        }
        #expect(arrivals == arrivals.sorted())
    }

    @Test func `a buffer that is too small for the order says so`() {
        var buffer = ReorderBuffer(capacity: 1)
        for (index, second) in [5, 6, 7, 1].enumerated() {
            _ = buffer.insert(.raw("", offset: 0, partition: Int32(index), at: .test + .seconds(second)))
        }
        while buffer.popFirst() != nil {}
        #expect(buffer.lateCount == 1)
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

/// A directory that knows the region by the calling code alone.
private struct CallingCodes: NumberDirectory {
    func facts(of number: PhoneNumber) -> NumberFacts {
        let codes = [("+49", "DE"), ("+33", "FR"), ("+44", "GB"), ("+1", "US"), ("+47", "NO")]
        let code = codes.first { number.e164.hasPrefix($0.0) }?.1 ?? "XX"
        let region = Region(code) ?? .unknown
        return NumberFacts(region: region, candidates: [region], isValid: true, type: .mobile)
    }
}

/// Random requests, most of them of few people, so that they meet windows and limits.
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

@Suite("policy simulate, from a topic", .timeLimit(.minutes(2)))
struct PolicySimulateTopicTests {
    private let cluster: MockCluster
    private let configuration: KafkaConfiguration

    init() throws {
        cluster = try MockCluster(brokers: 1)
        try cluster.createTopic("requests", partitions: 3)
        configuration = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers)
    }

    /// Writes requests of 40 people, a second apart, over the partitions.
    private func produce(_ count: Int) async throws {
        let producer = try KafkaProducer(configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await producer.run() }
            let results = await producer.send(
                (0..<count).map { index in
                    let prefix = index.isMultiple(of: 2) ? "+49" : "+33"
                    let person = index % 40
                    let record = InboundRecord.request(
                        id: "r\(index)",
                        phoneNumber: "\(prefix)1512345\(100 + person)",
                        at: .test
                    )
                    return ProducerRecord(
                        topic: "requests",
                        key: nil,
                        value: record.value,
                        timestamp: Timestamp.test.microseconds / 1000 + Int64(index) * 1000,
                        partition: Int32(person % 3)
                    )
                }
            )
            for case .failed(let error) in results { throw error }
            await producer.close(within: .seconds(5))
            try await group.waitForAll()
        }
    }

    private func run(start: Timestamp? = nil, end: Timestamp, topic: String = "requests") async throws -> ReplayReport {
        let replay = PolicyReplay(
            policies: Pair(
                current: .test { $0.limits = LimitPolicy(perRecipient: [], perIP: [], perTenant: []) },
                candidate: .test { tenant in
                    tenant.limits = LimitPolicy(perRecipient: [], perIP: [], perTenant: [])
                    tenant.regions = RegionPolicy(.allowByDefault(disallowed: Set(["DE"].compactMap { Region($0) })))
                }
            ),
            numbers: CallingCodes(),
            maxRequestAge: .seconds(300),
            latest: end
        )
        return try await TopicReplay.open(configuration: configuration, topic: topic, start: start, end: end)
            .run(replay, progress: ReplayProgress(start: start, end: end) { _ in })
    }

    @Test func `the whole topic is replayed once, in the order of the records' times`() async throws {
        try await produce(1200)
        let report = try await run(end: .test + .seconds(86_400))
        #expect(report.records == 1200)
        #expect(report.first == .test)
        #expect(report.last == .test + .seconds(1199))
        #expect(report.lateRecords == 0)
        #expect(!report.isInterrupted)
        // Of a person's requests every 40 s those at 0, 80, 200, 520 and 1120 s are sent on.
        #expect(report.sends["FR"] == Pair(current: 100, candidate: 100))
        #expect(report.sends["DE"]?.current == 100)
        #expect(report.sends["DE"]?.candidate == 0)
        #expect(report.flips.keys.allSatisfy { $0.region == "DE" && $0.to.rule == "regions" })
        #expect(report.flips.values.reduce(0, +) == 600)
        #expect(report.sendsSaved == 100)
    }

    @Test func `records from the end of the range on are left out`() async throws {
        try await produce(120)
        let report = try await run(end: .test + .seconds(60))
        #expect(report.records == 60)
        #expect(report.last == .test + .seconds(59))
    }

    @Test func `an empty topic gives an empty report`() async throws {
        let report = try await run(end: .test)
        #expect(report.records == 0)
        #expect(report.text(policies: Pair(current: "a", candidate: "b")).contains("No request is decided otherwise."))
    }

    @Test func `a replay that is cancelled ends and says so`() async throws {
        try await produce(120)
        let report = try await withThrowingTaskGroup(of: ReplayReport.self) { group in
            group.addTask { try await run(end: .test + .seconds(86_400)) }
            group.cancelAll()
            return try #require(try await group.next())
        }
        #expect(report.isInterrupted)
    }
}

@Suite("Times on the command line")
struct TimeArgumentTests {
    @Test(arguments: [
        ("now", TimeArgument.now), ("beginning", .beginning), ("7d", .ago(.seconds(604_800))), ("0d", .ago(.zero)),
        ("12h", .ago(.seconds(43_200))), ("90s", .ago(.seconds(90))), ("2026-11-20T12:00:00Z", .at(.test)),
        ("2026-11-20", .at(.test - .seconds(43_200))),
    ])
    func `a time is read`(text: String, expected: TimeArgument) {
        #expect(TimeArgument(argument: text) == expected)
    }

    @Test(arguments: ["", "d", "-1d", "+1d", "99999d", "1 d", "yesterday", "2026-13-01", "2026-11-20T12:00:00"])
    func `anything else is not`(text: String) {
        #expect(TimeArgument(argument: text) == nil)
    }
}
