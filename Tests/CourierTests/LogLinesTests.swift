// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

@Suite(.timeLimit(.minutes(5))) struct LogLinesTests {
    private static let number = "+4915123451000"
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    private static func request(traceparent: String?) -> InboundRecord {
        let plain = InboundRecord.request(id: "request-1", phoneNumber: number, offset: 1, at: .now)
        return InboundRecord(
            topic: plain.topic,
            partition: plain.partition,
            offset: plain.offset,
            timestamp: plain.timestamp,
            key: plain.key,
            value: plain.value,
            headers: plain.headers + (traceparent.map { [RecordField("traceparent", $0)] } ?? [])
        )
    }

    @Test func `a request's trace goes to its provider and into every line about it`() async throws {
        let journal = Journal()
        let provider = MemoryProvider(journal: journal)
        let log = LogRecord()
        try await MemoryWorker.with([provider], journal: journal, log: log) { worker in
            worker.source.add(records: [Self.request(traceparent: "00-\(Self.trace)-\(Self.span)-01")])
            try await worker.settle(events: 1)
        }
        #expect(provider.messages.map { $0.trace?.traceparent } == ["00-\(Self.trace)-\(Self.span)-01"])
        let answered = try #require(log.lines(.providerAnswered).first)
        let published = try #require(log.lines(.decisionPublished).first)
        for line in [answered, published] {
            #expect(line.fields["trace_id"] == .text(Self.trace), "\(line)")
            #expect(line.fields["span_id"] == .text(Self.span), "\(line)")
            #expect(line.fields["request.id"] == "request-1")
            #expect(line.fields["region"] == "DE")
            #expect(line.fields["verification.id"] == answered.fields["verification.id"])
            #expect(line.fields["duration_ms"] != nil)
            #expect(line.level == .debug)
        }
        #expect(published.fields["status"] == "sent")
    }

    @Test func `a traceparent that is none is passed over`() async throws {
        let journal = Journal()
        let provider = MemoryProvider(journal: journal)
        let log = LogRecord()
        try await MemoryWorker.with([provider], journal: journal, log: log) { worker in
            worker.source.add(records: [Self.request(traceparent: "00-\(Self.trace)-0-01")])
            try await worker.settle(events: 1)
        }
        #expect(provider.messages.map(\.trace) == [nil])
        #expect(log.lines.allSatisfy { $0.fields["trace_id"] == nil })
    }

    @Test func `a stage that cannot write is told once, and back only by its own success`() async throws {
        let journal = Journal()
        let log = LogRecord()
        try await MemoryWorker.with([MemoryProvider(journal: journal)], journal: journal, log: log) { worker in
            worker.ledger.fail(.intake, .init(repeating: .refused, count: 4))
            worker.source.add(records: [Self.request(traceparent: nil)])
            try await eventually("intake has failed three times, and sweeps have succeeded between") {
                worker.journal.work.count { $0 == .ledger(.intake) } >= 3
            }
            #expect(!worker.isDatabaseAnswering)
            #expect(log.lines(.postgresRecovered).isEmpty)
            try await worker.settle(events: 1)
            try await eventually("it is told that the database is back") { !log.lines(.postgresRecovered).isEmpty }
            #expect(worker.isDatabaseAnswering)
        }
        #expect(log.lines(.postgresFailing).map { $0.fields["stage"] } == ["intake"])
        #expect(log.lines(.postgresRecovered).map { $0.fields["stage"] } == ["intake"])
    }

    @Test func `what the broker does not take has a line with its cause`() async throws {
        let journal = Journal()
        let log = LogRecord()
        try await MemoryWorker.with([MemoryProvider(journal: journal)], journal: journal, log: log) { worker in
            worker.sink.fail(1)
            worker.source.add(records: [Self.request(traceparent: nil)])
            try await eventually("publishing has failed") { !worker.sink.hasFailures }
            try await eventually("it is told") { !log.lines(.publishFailed).isEmpty }
        }
        let line = try #require(log.lines(.publishFailed).first)
        #expect(line.fields["records"] == 1)
        #expect(line.fields["error"] == "KafkaError(_TIMED_OUT)")
    }

    @Test(arguments: [0, 1])
    func `a pause is logged with its cause and the alternatives left, and without any as an error`(
        alternatives: Int
    ) async throws {
        let journal = Journal()
        let answer = ProviderAnswer(.throttled, errorCode: "429", retryAfter: .seconds(1))
        let main = MemoryProvider.taking(after: 1, of: answer, journal: journal)
        let others = (0..<alternatives).map { MemoryProvider("backup\($0)", journal: journal) }
        let log = LogRecord()
        try await MemoryWorker.with([main] + others, journal: journal, log: log) { worker in
            worker.source.add([Self.number])
            try await worker.settle(events: 1)
        }
        let expected: [String: LogValue] = [
            "provider": "main", "error_code": "429", "pause_ms": 1000, "alternatives": LogValue(alternatives),
        ]
        for line in log.lines(.providerPaused) + log.lines(.routeDead) { #expect(line.fields == expected) }
        #expect(log.lines(.providerPaused).map(\.level) == [.warning])
        let isDead = alternatives == 0
        #expect(log.lines(.routeDead).count { $0.level == .error } == (isDead ? 1 : 0))
        #expect(log.lines(.providerResumed).count { $0.fields == ["provider": "main"] } == (isDead ? 1 : 0))
    }

    @Test func `the failed attempts of one message show that its only provider is dead`() async throws {
        let journal = Journal()
        let answer = ProviderAnswer(.notSent, errorCode: "connection_refused")
        let provider = MemoryProvider(journal: journal) { _ in
            // Three failures open the circuit if a second passes between them.
            try? await Task.sleep(for: .milliseconds(600))
            return answer
        }
        let log = LogRecord()
        let statistics = Statistics()
        try await MemoryWorker.with([provider], journal: journal, log: log, statistics: statistics) { worker in
            #expect(worker.pipeline.deadRoutes.causes.isEmpty && worker.pipeline.load.deadRoutes == 0)
            worker.source.add([Self.number])
            try await worker.settle(events: 1)
            #expect(worker.sink.answers == ["failed provider_unavailable"])
            #expect(worker.pipeline.deadRoutes.causes == ["main (connection_refused)"])
            #expect(worker.pipeline.load.deadRoutes == 1)
        }
        #expect(log.lines(.routeDead).map { $0.fields["error_code"] } == ["connection_refused"])
        #expect(statistics.take().unavailable == 1)
    }

    @Test func `what an operator must see has a line above debug`() async throws {
        let journal = Journal()
        let provider = MemoryProvider(journal: journal) { _ in ProviderAnswer(.unknown, errorCode: "timeout") }
        let log = LogRecord(level: .info)
        try await MemoryWorker.with([provider], journal: journal, log: log) { worker in
            worker.source.add(records: [Self.request(traceparent: nil)])
            worker.source.add(records: [
                InboundRecord(topic: "t", partition: 2, offset: 9, timestamp: nil, key: nil, value: nil, headers: [])
            ])
            try await worker.settle(events: 2)
        }
        let unknown = try #require(log.lines(.sendUnknown).first)
        #expect(unknown.fields["reason"] == "timeout")
        #expect(unknown.fields["provider"] == "main")
        let refused = try #require(log.lines(.providerRefused).first)
        #expect(refused.fields["outcome"] == "unknown")
        #expect(refused.fields["error_code"] == "timeout")
        let deadLetter = try #require(log.lines(.deadLetter).first)
        #expect(deadLetter.fields["topic"] == "t")
        #expect(deadLetter.fields["partition"] == 2)
        #expect(deadLetter.fields["offset"] == 9)
        #expect(log.lines.allSatisfy { $0.level >= .info })
    }
}
