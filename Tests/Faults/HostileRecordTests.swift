// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import KafkaClient
import Logs
import Providers
import TestSupport
import TestTools
import Testing
import Verification

extension Campaign {
    @Suite struct HostileInput {
        private static let fields = ["requestId", "purpose", "recipient", "phoneNumber", "confirmed"]

        @Test func `hostile requests with good neighbours are all accounted for`() async throws {
            let plan = Scenario.Plan(
                partitions: 12,
                lease: .seconds(30),
                callDeadline: .seconds(10),
                quietTime: .seconds(120)
            )
            for _ in 0..<(Campaign.isFull ? 10 : 1) {
                try await Scenario.run("hostile_requests", quick: 3000, full: 100_000, plan: plan) { scenario in
                    for _ in 0..<2 { try await scenario.startWorker() }
                    // The mock cluster keeps about 5 MiB per partition.
                    let portion = 1000
                    for _ in scenario.rounds(scenario.size / portion) { try await send(portion, scenario) }
                    let letters = Set(
                        try await scenario.fleet.allDeadLetters(after: .seconds(1)).map(History.Place.init(deadLetter:))
                    )
                    let events = Set(try await scenario.fleet.allEvents(after: .milliseconds(200)).map(\.id))
                    let places = scenario.requests.reduce(0) { $0 + $1.places.count } + scenario.unreadable.count
                    scenario.note("dead_letters", Double(letters.count))
                    scenario.note("answered", Double(events.count))
                    #expect(letters.count + events.count == places, "every record is answered, or a dead letter")
                    try scenario.expectWholeLogs()
                }
            }
        }

        @Test func `hostile receipts are dead letters, or wait for their sends, and stop nothing`() async throws {
            let plan = Scenario.Plan(partitions: 6, hasReceipts: true)
            for _ in 0..<(Campaign.isFull ? 5 : 1) {
                try await Scenario.run("hostile_receipts", quick: 1500, full: 20_000, plan: plan) { scenario in
                    try await scenario.startWorker()
                    let neighbours = scenario.makeRequests(50)
                    try await scenario.send(neighbours)
                    var refused = 0
                    // The mock cluster keeps about 5 MiB per partition.
                    let portion = 500
                    for _ in scenario.rounds(scenario.size / portion) {
                        let records = scenario.withDice { dice in
                            (0..<portion).map { _ in receipt(&dice, topic: scenario.fleet.topics.receipts) }
                        }
                        refused += records.count(where: \.isRefusedReceipt)
                        try await scenario.fleet.send(records)
                        scenario.countFaults(records.count)
                        _ = try await scenario.fleet.deadLetters(refused, within: .seconds(120))
                    }
                    let letters = try await scenario.fleet.allDeadLetters(after: .seconds(1))
                    scenario.note("dead_letters", Double(letters.count))
                    #expect(Set(letters.map(History.Place.init(deadLetter:))).count == refused)
                    #expect(try await scenario.fleet.sentEvents(of: neighbours) == neighbours.count)
                    try scenario.expectWholeLogs()
                }
            }
        }

        /// Publishes hostile records between good ones, and waits until all are processed.
        private func send(_ count: Int, _ scenario: Scenario) async throws {
            var records: [(request: TestRequest, record: TestRecord)] = []
            var unreadable: [TestRecord] = []
            for request in scenario.makeRequests(count) {
                let record = scenario.withDice { dice in
                    HostileRecords().record(of: request.json, fields: Self.fields, &dice)
                }
                switch VerificationRequest.read(record.inbound) {
                case .deadLetter: unreadable.append(record)
                case .invalid(let read): records.append((TestRequest(id: read.requestID, phoneNumber: ""), record))
                case .request(let read):
                    let number = if case .phone(let number) = read.recipient { number.e164 } else { "" }
                    records.append((TestRequest(id: read.requestID, phoneNumber: number), record))
                }
            }
            scenario.countFaults(count)
            // A mutated number may equal that of another hostile request, but never one of these.
            let neighbours = Numbers.take(count / 20).map { number in
                TestRequest(phoneNumber: "+49176" + number.dropFirst(6))
            }
            records += neighbours.map { ($0, $0.binary) }
            try await scenario.send(scenario.withDice { dice in records.shuffled(using: &dice) })
            try await scenario.send(unreadable: unreadable)
            _ = try await scenario.fleet.deadLetters(scenario.unreadable.count, within: .seconds(120))
            _ = try await scenario.fleet.events(of: records.map(\.request.id), within: .seconds(120))
            #expect(try await scenario.fleet.sentEvents(of: neighbours) == neighbours.count)
        }

        private func receipt(_ dice: inout TestSeed, topic: String) -> TestRecord {
            let id = UUIDValue(UInt128(dice.next()) << 64 | UInt128(dice.next())).inCell(dice.next() % 4 == 0 ? 1 : 0)
            let json = #"""
                {"provider":"main","sendId":"\#(id)","providerMessageId":"SM1","status":"delivered",\#
                "errorCode":"0","occurredAt":"2026-11-20T12:00:00Z","raw":{"MessageStatus":"delivered"}}
                """#
            let hostile = HostileRecords(type: "com.codecourier.verification.receipt.v1")
            var record = hostile.record(
                of: json,
                fields: ["provider", "sendId", "providerMessageId", "status", "errorCode", "occurredAt", "raw"],
                &dice
            )
            record.topic = topic
            return record
        }
    }
}

extension Scenario {
    /// Checks that every log line is one valid entry, whatever the records contained.
    fileprivate func expectWholeLogs() throws {
        for worker in fleet.workers {
            #expect(worker.program.isRunning, "\(worker.program.errors.suffix(2000))")
            // Reads the lines once, since the worker keeps writing.
            #expect(worker.program.lines.allSatisfy { Worker.entry($0) != nil })
        }
    }
}

extension TestRecord {
    /// True when a worker of cell 0 reads no receipt from this record, or a receipt of another cell.
    fileprivate var isRefusedReceipt: Bool {
        switch Receipt.read(inbound, secrets: [ProviderSettings]().receiptSecrets) {
        case .deadLetter: true
        case .ignored: false
        case .receipt(let receipt): receipt.sendID.map { $0.uuid.cell != 0 } ?? false
        }
    }

    /// The record as a worker receives it, except for its position.
    fileprivate var inbound: InboundRecord {
        InboundRecord(
            topic: topic ?? "requests",
            partition: 0,
            offset: 0,
            timestamp: .now,
            key: keyBytes ?? key.map { Array($0.utf8) },
            value: value,
            headers: headers.map { RecordField(name: $0.name, value: $0.value) }
        )
    }
}
