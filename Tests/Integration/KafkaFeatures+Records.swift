// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import KafkaClient
import TestTools
import Testing

extension KafkaFeatures {
    @Suite struct Records {
        @Test func `a request of 64 KiB is answered, and one byte more or a megabyte is a dead letter`() async throws {
            try await TestFleet.with(partitions: 1) { fleet in
                _ = try await fleet.startWorker()
                let largest = try request(of: 65_536)
                let larger = [try request(of: 65_537).binary, try request(of: 1_040_000).binary]
                try await fleet.send([largest.binary] + larger)
                fleet.watch([largest.phoneNumber])
                try await fleet.expectOne(of: [largest])
                let letters = try await fleet.deadLetters(2)
                #expect(letters.map(\.value) == larger.map(\.value))
            }
        }

        @Test func `topics that take small records alone hold up what they refuse, and dead letters are cut`()
            async throws
        {
            try await TestFleet.with(partitions: 2) { fleet in
                let kafka = try ApacheKafka(fleet)
                try await fleet.limit(fleet.topics.deliveries, to: 100, kafka)
                try await fleet.limit(fleet.topics.deadLetters, to: 3000, kafka)
                let worker = try await fleet.startWorker()
                let requests = try await fleet.sendRequests(10)
                let unreadable = [UInt8](repeating: UInt8(ascii: "x"), count: 50_000)
                try await fleet.send([TestRecord(key: "someone", value: unreadable)])
                let letter = try #require(try await fleet.deadLetters(1).first)
                #expect(letter.value.map { unreadable.starts(with: $0) && !$0.isEmpty } == true)
                #expect(letter.text("dead-letter-value-bytes") == "50000")
                try await eventually("the messages leave") { fleet.messages.count == requests.count }
                try await worker.waitForLog("publish.failed")
                #expect(
                    worker.lines(of: "publish.failed", as: Failed.self).first?.error.contains("MSG_SIZE_TOO_LARGE")
                        == true
                )
                try await fleet.limit(fleet.topics.deliveries, to: 1_000_000, kafka)
                try await fleet.expectOne(of: requests, within: .seconds(10))
            }
        }

        /// Each worker has one partition, compresses its events with one codec and reads requests in the next one.
        @Test func `requests in every compression are read, and events are written in every compression`() async throws
        {
            let codecs = ["none", "gzip", "snappy", "lz4", "zstd"]
            try await TestFleet.with(partitions: codecs.count) { fleet in
                let kafka = try ApacheKafka(fleet)
                var option = "compression.codec: none"
                try fleet.setKafkaOption("compression.codec", "none")
                // Events wait to form a batch, since a single event may be smaller without compression.
                try fleet.setKafkaOption("linger.ms", "100")
                for codec in codecs {
                    try fleet.configure(option, "compression.codec: \(codec)")
                    option = "compression.codec: \(codec)"
                    _ = try await fleet.startWorker(waiting: false)
                }
                try await eventually("each has its partition") {
                    fleet.workers.allSatisfy {
                        $0.lines(of: "kafka.assigned", as: Assigned.self).last?.partitions.count == 1
                    }
                }
                var requests: [TestRequest] = []
                for (index, codec) in codecs.enumerated() {
                    requests += try await fleet.sendRequests(40, to: Int32(index), codec: codec)
                    let found = try kafka.codecs(of: fleet.topics.requests, Int32(index))
                    #expect(found == [UInt8(index)])
                }
                try await fleet.expectOne(of: requests)
                var found: Set<UInt8> = []
                for partition in 0..<Int32(codecs.count) {
                    found.formUnion(try kafka.codecs(of: fleet.topics.deliveries, partition))
                }
                #expect(found == Set(0..<UInt8(codecs.count)))
            }
        }

        private func request(of bytes: Int) throws -> TestRequest {
            let start = TestRequest(phoneNumber: Numbers.one(), more: #","padding":"""#)
            let padding = String(repeating: "x", count: bytes - start.json.utf8.count)
            let request = TestRequest(id: start.id, phoneNumber: start.phoneNumber, more: #","padding":"\#(padding)""#)
            try #require(request.json.utf8.count == bytes)
            return request
        }
    }

    private struct Failed: Decodable {
        let error: String
    }

    private struct Assigned: Decodable {
        let partitions: String
    }
}

extension TestFleet {
    /// Sets the maximum batch size of a topic.
    fileprivate func limit(_ topic: String, to bytes: Int, _ kafka: ApacheKafka) async throws {
        try await kafka.tool(
            "kafka-configs",
            "--alter",
            "--entity-type",
            "topics",
            "--entity-name",
            topic,
            "--add-config",
            "max.message.bytes=\(bytes)"
        )
    }
}
