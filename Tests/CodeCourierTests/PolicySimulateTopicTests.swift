// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import MockKafka
import TestSupport
import Testing
import Verification

@testable import CodeCourier

@Suite("policy simulate, from a topic", .timeLimit(.minutes(2)))
struct PolicySimulateTopicTests {
    private let cluster: MockCluster
    private let configuration: KafkaConfiguration

    init() throws {
        cluster = try MockCluster(brokers: 1)
        try cluster.createTopic("requests", partitions: 3)
        configuration = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers)
    }

    /// Publishes requests of 40 people, one per second, across the partitions; those in `ahead` are dated years later.
    private func produce(_ count: Int, ahead: Set<Int> = []) async throws {
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
                        timestamp: Timestamp.test.microseconds / 1000
                            + (ahead.contains(index) ? 1_000_000_000_000 : Int64(index) * 1000),
                        partition: Int32(person % 3)
                    )
                }
            )
            for case .failed(let error) in results { throw error }
            await producer.close(within: .seconds(5))
            try await group.waitForAll()
        }
    }

    private func run(end: Timestamp? = nil) async throws -> ReplayReport {
        let latest = Timestamp.test + .seconds(86_400)
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
            latest: latest
        )
        let topic = try await TopicReplay.open(
            configuration: configuration,
            topic: "requests",
            start: nil,
            end: end,
            latest: latest
        )
        return try await topic.run(replay, progress: ReplayProgress(start: nil, end: latest) { _ in })
    }

    @Test func `the whole topic is replayed once, in the order of the records' times`() async throws {
        try await produce(1200)
        let report = try await run()
        #expect(report.records == 1200)
        #expect(report.first == .test)
        #expect(report.last == .test + .seconds(1199))
        #expect(report.lateRecords == 0)
        #expect(!report.isInterrupted)
        // Each person requests every 40 s, and the requests at 0, 80, 200, 520 and 1120 s are sent.
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

    @Test func `up to now, records from clocks that are ahead are replayed like all others`() async throws {
        let ahead = Set((0..<120).filter { $0 % 10 == 5 })
        try await produce(120, ahead: ahead)
        let report = try await run()
        #expect(report.records == 120)
        #expect(report.last == .test + .seconds(119))
        #expect(report.lateRecords == 0)
    }

    @Test func `a record from a clock that is ahead is outside of a range and does not end it`() async throws {
        // These are the first records of each partition, with more records behind them than one read returns.
        try await produce(3600, ahead: [0, 1, 2])
        let report = try await run(end: .test + .seconds(86_000))
        #expect(report.records == 3597)
        #expect(report.last == .test + .seconds(3599))
    }

    @Test func `an empty topic gives an empty report`() async throws {
        let report = try await run(end: .test)
        #expect(report.records == 0)
        #expect(report.text(policies: Pair(current: "a", candidate: "b")).contains("No request is decided otherwise."))
    }

    @Test func `a replay that is cancelled ends and says so`() async throws {
        try await produce(120)
        let report = try await withThrowingTaskGroup(of: ReplayReport.self) { group in
            group.addTask { try await run() }
            group.cancelAll()
            return try #require(try await group.next())
        }
        #expect(report.isInterrupted)
    }
}
