// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import Foundation
import KafkaClient
import TestTools
import Testing
import Verification

extension Scenarios {
    @Suite struct DeadLetters {
        @Test func `a dead letter that can be read meanwhile is decided once, by its own time`() async throws {
            try await TestFleet.with(partitions: 1) { fleet in
                let numbers = Numbers.take(2)
                fleet.watch(numbers)
                let fresh = TestRequest(phoneNumber: numbers[0])
                let old = TestRequest(phoneNumber: numbers[1])
                let now = Int64(Date.now.timeIntervalSince1970 * 1000)
                try await fleet.bury([(fresh, made: now), (old, made: now - 600_000)])
                _ = try await fleet.startWorker()

                let config = ["--config", fleet.folder[TestFleet.configurationFile]]
                try await list(fleet, config, numbers)
                let redrive = ["dead-letters", "redrive", "--all"] + config
                let (dry, dryExit) = try await fleet.command(redrive + ["--dry-run"])
                #expect(dryExit == .code(0))
                #expect(dry.lines == ["2 would go back to \(fleet.topics.requests)"])
                for _ in 0..<2 {
                    let (program, exit) = try await fleet.command(redrive)
                    #expect(exit == .code(0), "\(program.errors)")
                    #expect(program.lines == ["2 are back on \(fleet.topics.requests)"])
                }
                let events = try await fleet.events(of: [fresh.id, old.id], each: 2)
                let answers = Dictionary(grouping: events, by: \.body.requestId).mapValues { $0.map(\.answer) }
                #expect(answers[fresh.id]?.first == Answer("sent"))
                #expect(answers[fresh.id]?.last == Answer("sent", "duplicate_request"))
                #expect(answers[old.id]?.allSatisfy { $0.status == "expired_unsent" } == true, "\(answers)")
                #expect(fleet.sent.map(\.to) == [numbers[0]])
            }
        }

        /// Expects a list of both dead letters that shows neither number.
        private func list(_ fleet: TestFleet, _ config: [String], _ numbers: [String]) async throws {
            let (program, exit) = try await fleet.command(["dead-letters", "list"] + config)
            #expect(exit == .code(0), "\(program.errors)")
            #expect(program.lines.count == 3)
            #expect(program.lines.dropFirst().allSatisfy { $0.contains("invalid_cloudevent") })
            #expect(numbers.allSatisfy { !program.output.contains($0) })
        }
    }
}

extension TestFleet {
    /// Publishes requests as dead letters, as a worker does with unreadable records.
    fileprivate func bury(_ requests: [(request: TestRequest, made: Int64)]) async throws {
        let letters = requests.enumerated().map { index, letter in
            let record = letter.request.binary
            let inbound = InboundRecord(
                topic: topics.requests,
                partition: 0,
                offset: Int64(1000 + index),
                timestamp: Timestamp(milliseconds: letter.made),
                key: record.key.map { Array($0.utf8) },
                value: record.value,
                headers: record.headers.map { RecordField(name: $0.name, value: $0.value) }
            )
            let time = Timestamp(milliseconds: letter.made)
            let dead = OutboxRecord.deadLetter(inbound, reason: .invalidCloudEvent, at: time)
            return TestRecord(
                key: letter.request.phoneNumber,
                value: dead.value,
                headers: dead.headers.map { RecordHeader(name: $0.name, value: $0.value) }
            )
        }
        try await send(letters, to: topics.deadLetters)
    }
}
