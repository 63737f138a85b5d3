// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Foundation
import TestSupport
import TestTools
import Testing

extension KafkaFeatures {
    /// Tests features of real topics: transactions, added partitions, expired records.
    @Suite struct Topics {
        @Test func `aborted requests are nobody's, and the gaps that transactions leave are no loss`() async throws {
            try await TestFleet.with(partitions: 2) { fleet in
                let kafka = try ApacheKafka(fleet)
                let worker = try await fleet.startWorker()
                var committed: [TestRequest] = []
                var aborted: [TestRequest] = []
                for _ in 0..<2 {
                    aborted += try await fleet.transaction(of: 20, end: .abort, kafka)
                    committed += try await fleet.transaction(of: 20, end: .commit, kafka)
                    committed += try await fleet.sendRequests(10)
                }
                try await fleet.expectOne(of: committed)
                let ids = Set(aborted.map(\.id))
                #expect(try await !fleet.allEvents(after: .zero).contains { ids.contains($0.body.requestId) })
                #expect(aborted.allSatisfy { fleet.messages[$0.phoneNumber] == nil })
                try await worker.stop()

                // A worker that starts behind only markers and aborted records also reports no loss.
                aborted += try await fleet.transaction(of: 20, end: .abort, kafka)
                _ = try await fleet.startWorker()
                try await fleet.expectOne(of: try await fleet.sendRequests(10))
            }
        }

        @Test func `an open transaction holds up what is behind it, for its own time, and no other partition`()
            async throws
        {
            try await TestFleet.with(partitions: 2) { fleet in
                let kafka = try ApacheKafka(fleet)
                _ = try await fleet.startWorker()
                let open = try await fleet.transaction(of: 5, on: 0, end: .leave, seconds: 8, kafka)
                let behind = try await fleet.sendRequests(10, to: 0)
                try await fleet.expectOne(of: try await fleet.sendRequests(10, to: 1), within: .seconds(5))
                #expect(behind.allSatisfy { fleet.messages[$0.phoneNumber] == nil })
                try await fleet.expectOne(of: behind, within: .seconds(20))
                #expect(open.allSatisfy { fleet.messages[$0.phoneNumber] == nil })
            }
        }

        @Test func `partitions that are added are read within 15 s, by a worker that goes on meanwhile`() async throws {
            try await TestFleet.with(partitions: 2) { fleet in
                let kafka = try ApacheKafka(fleet)
                _ = try await fleet.startWorker()
                _ = try await fleet.startWorker()
                var added: [TestRequest] = []
                let written = try await fleet.underLoad {
                    for topic in [fleet.topics.requests, fleet.topics.receipts] {
                        try await kafka.tool("kafka-topics", "--alter", "--topic", topic, "--partitions", "6")
                    }
                    for partition in Int32(2)..<6 { added += try await fleet.sendRequests(5, to: partition) }
                    _ = try await fleet.events(of: added.map(\.id), within: .seconds(15))
                }
                try await fleet.expectOne(of: added + written.map(\.request))
                let wait = fleet.longestWait(of: written)
                print("partitions added: \(written.count) requests, the longest wait \(wait)")
                #expect(wait < .seconds(15))
            }
        }

        @Test func `records that expired before they were read are told with their place, and the others answered`()
            async throws
        {
            try await TestFleet.with(partitions: 2) { fleet in
                let kafka = try ApacheKafka(fleet)
                var worker = try await fleet.startWorker()
                var requests = try await fleet.sendRequests(10, to: 0) + fleet.sendRequests(10, to: 1)
                try await fleet.expectOne(of: requests)
                try await fleet.sendReceipts(2)
                _ = try await fleet.deadLetters(2)
                try await worker.stop()
                let lost = try await fleet.sendRequests(7, to: 0)
                requests += try await fleet.sendRequests(3, to: 1)
                try await fleet.expire(fleet.topics.requests, 0, before: 17, kafka)
                requests += try await fleet.sendRequests(3, to: 0)
                try await fleet.sendReceipts(4)
                try await fleet.expire(fleet.topics.receipts, 0, before: 5, kafka)

                worker = try await fleet.startWorker()
                try await worker.waitForLog("kafka.records_lost")
                _ = try await fleet.events(of: requests.map(\.id))
                try await worker.waitForLog("receipts.records_lost")
                for (event, topic, offsets) in [
                    ("kafka.records_lost", fleet.topics.requests, 10...16),
                    ("receipts.records_lost", fleet.topics.receipts, 2...4),
                ] {
                    #expect(
                        worker.lines(of: event, as: LostRecords.self) == [LostRecords(topic: topic, offsets)],
                        "\(event)"
                    )
                }
                #expect(lost.allSatisfy { fleet.messages[$0.phoneNumber] == nil })
                #expect(requests.allSatisfy { fleet.messages[$0.phoneNumber]?.count == 1 })
            }
        }
    }

    private struct LostRecords: Decodable, Equatable {
        let topic: String
        let partition: Int
        let offset: Int
        // swift-format-ignore: AlwaysUseLowerCamelCase
        let last_offset: Int
        let records: Int

        init(topic: String, partition: Int = 0, _ offsets: ClosedRange<Int>) {
            (self.topic, self.partition) = (topic, partition)
            (offset, last_offset, records) = (offsets.lowerBound, offsets.upperBound, offsets.count)
        }
    }
}

extension TestFleet {
    /// Publishes requests in one transaction, to one partition or alternating between two.
    fileprivate func transaction(
        of count: Int,
        on partition: Int32? = nil,
        end: ApacheKafka.End,
        seconds: Int = 60,
        _ kafka: ApacheKafka
    ) async throws -> [TestRequest] {
        let requests = Numbers.take(count).map { TestRequest(phoneNumber: $0) }
        watch(requests.map(\.phoneNumber))
        let records = requests.enumerated().map { $1.record(on: partition ?? Int32($0 % 2)) }
        try await kafka.transaction(records, to: topics.requests, end: end, seconds: seconds)
        return requests
    }

    /// Publishes unreadable receipts to the first partition.
    fileprivate func sendReceipts(_ count: Int) async throws {
        let receipt = TestRecord(key: "someone", value: [0], partition: 0)
        try await send(Array(repeating: receipt, count: count), to: topics.receipts)
    }

    /// Deletes a partition's records before an offset, as retention does.
    fileprivate func expire(_ topic: String, _ partition: Int, before offset: Int, _ kafka: ApacheKafka) async throws {
        let places =
            #"{"partitions":[{"topic":"\#(topic)","partition":\#(partition),"offset":\#(offset)}],"version":1}"#
        let file = try folder.write(places, to: "expired.json")
        try await kafka.tool("kafka-delete-records", "--offset-json-file", file)
    }
}

extension TestRequest {
    fileprivate func record(on partition: Int32) -> TestRecord {
        var record = bare
        record.partition = partition
        return record
    }
}
