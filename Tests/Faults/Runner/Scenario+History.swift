// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import KafkaClient
import PostgresClient
import TestSupport
import TestTools
import Testing
import Verification

extension Scenario {
    /// Waits until the fleet has answered everything or the time is over, stops it and reads the history.
    func history() async throws -> History {
        try await settle()
        for worker in fleet.workers where worker.program.isRunning { try await worker.stop() }
        var history = History()
        history.requests = requests
        history.unreadable = unreadable
        history.hasReceipts = plan.hasReceipts
        let numbers = Dictionary(history.requests.map { ($0.id, $0.number) }) { first, _ in first }
        try await readTables(into: &history, numbers)
        let events = try await fleet.allEvents(after: .milliseconds(500))
        #expect(EventContract.violations(in: events.prefix(20_000).map { $0.record.value ?? [] }) == [])
        history.events = events.map(History.Event.init)
        history.deadLetters = try await fleet.allDeadLetters(after: .milliseconds(200))
            .map(History.Place.init(deadLetter:))
        history.committed = try await committed()
        history.messages = fleet.sent.map(History.Message.init)
        let search = try await fleet.searchForSecrets()
        history.leaks = search.shown
        note("searched_bytes", Double(search.bytes))
        return history
    }

    /// Waits for all answers; the checker reports the missing ones.
    private func settle() async throws {
        if !fleet.workers.contains(where: \.program.isRunning) { try await startWorker() }
        do {
            _ = try await fleet.events(of: requests.map(\.id), within: plan.quietTime)
            _ = try await fleet.deadLetters(unreadable.count, within: plan.quietTime)
            try await eventually("everything is read", within: plan.quietTime) { try await isCommitted() }
            try await eventually("nothing is open in the tables", within: plan.quietTime) {
                try await fleet.database.count(
                    """
                    SELECT (SELECT count(*) FROM courier.parcel)
                        + (SELECT count(*) FROM courier.unpublished)
                    """
                ) == 0
            }
        } catch is TimedOut {}
    }

    /// Returns true when every record is committed, repeated ones too, since a later read may cause a later write.
    private func isCommitted() async throws -> Bool {
        let committed = try await committed()
        return places.allSatisfy { $0.offset < committed[$0.topic]?[$0.partition] ?? 0 }
    }

    private var places: [History.Place] { requests.flatMap(\.places) + unreadable }

    private func committed() async throws -> [String: [Int32: Int64]] {
        var committed: [String: [Int32: Int64]] = [:]
        for topic in Set(places.map(\.topic)) {
            committed[topic] = try await fleet.committedOffsets(of: topic, by: groups[topic])
        }
        return committed
    }

    private func readTables(into history: inout History, _ numbers: [String: String]) async throws {
        let answers = try await fleet.database.pool.withSession { session in
            try session.pipeline([
                Statement(
                    """
                    SELECT s.id::text, s.verification_id, s.generation, coalesce(s.request_id, v.request_id), s.state,
                        s.deadline, s.repeated, v.code_key, v.code_length
                    FROM courier.send s JOIN courier.verification v ON v.id = s.verification_id
                    WHERE NOT v.fictional
                    """
                ),
                Statement("SELECT id::text, request_id, sequence, send_open FROM courier.verification"),
                Statement("SELECT stream::text, sequence FROM courier.unpublished"),
                Statement("SELECT stream::text, sequence FROM courier_test.outbox_insert"),
                Statement(
                    """
                    SELECT send::text, writer, old_state, new_state, old_fence, new_fence, lease_was_over
                    FROM courier_test.send_change ORDER BY number
                    """
                ),
            ])
        }
        history.sends = try answers[0].map { try History.Send($0, numbers) }
        history.verifications = try answers[1].map(History.Verification.init)
        history.outbox = try answers[2].map(History.OutboxKey.init)
        history.outboxInserts = try answers[3].map(History.OutboxKey.init)
        history.sendChanges = try answers[4].map(History.SendChange.init)
    }
}

extension History.Send {
    /// Derives the expected code of the send as any worker does.
    fileprivate init(_ row: Row, _ numbers: [String: String]) throws {
        let verification = VerificationID(UUIDValue(try row.uuid(1)))
        let request = try row.text(3)
        let generation = try row.int32(2)
        let length = Int(try row.int16(8))
        let code = CodeKeys.test.code[KeyID(try row.int16(7))].map { key in
            VerificationCode(verification: verification, generation: generation, length: length, key: key)
        }
        self.init(
            id: try row.text(0),
            verification: "\(verification)",
            generation: Int(generation),
            request: request,
            state: try row.text(4),
            number: numbers[request] ?? "",
            code: code?.digits ?? "",
            deadline: Timestamp(microseconds: try row.timestamp(5)),
            isRepeated: try row.bool(6)
        )
    }
}

extension History.Verification {
    fileprivate init(_ row: Row) throws {
        self.init(
            id: try row.text(0),
            request: try row.text(1),
            sequence: Int(try row.int32(2)),
            isSendOpen: try row.bool(3)
        )
    }
}

extension History.OutboxKey {
    fileprivate init(_ row: Row) throws {
        self.init(stream: try row.text(0), sequence: Int(try row.int32(1)))
    }
}

extension History.SendChange {
    fileprivate init(_ row: Row) throws {
        self.init(
            send: try row.text(0),
            writer: try row.text(1),
            oldState: try row.optionalText(2),
            newState: try row.text(3),
            oldFence: Int(try row.int32(4)),
            newFence: Int(try row.int32(5)),
            leaseWasOver: try row.bool(6)
        )
    }
}

extension History.Event {
    fileprivate init(_ event: FleetSupport.Event) {
        self.init(
            id: event.id,
            key: String(decoding: event.record.key ?? [], as: UTF8.self),
            verification: event.body.verificationId,
            request: event.body.requestId,
            sequence: event.body.sequence,
            status: event.body.status,
            reason: event.body.reason,
            place: History.Place(
                topic: event.record.topic,
                partition: event.record.partition,
                offset: event.record.offset
            ),
            digest: event.record.value.hashValue
        )
    }
}

extension History.Message {
    fileprivate init(_ message: SentMessage) {
        self.init(
            number: message.to,
            code: message.code,
            // An unreadable time becomes the latest possible time, which violates every send's deadline.
            time: Timestamp(rfc3339: message.time) ?? Timestamp(microseconds: .max),
            isAccepted: message.accepted
        )
    }
}

extension History.Place {
    /// The position of the record that became a dead letter.
    init(deadLetter letter: ConsumerRecord) {
        self.init(
            topic: letter.text("dead-letter-topic") ?? "",
            partition: letter.text("dead-letter-partition").flatMap { Int32($0) } ?? -1,
            offset: letter.text("dead-letter-offset").flatMap { Int64($0) } ?? -1
        )
    }
}
