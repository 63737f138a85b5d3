// SPDX-License-Identifier: Apache-2.0

import Courier
import Formats
import KafkaClient
import Logs
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Verification

/// A source of records from a list.
final class MemorySource: RecordSource, Service {
    private struct State {
        var records: [InboundRecord] = []
        var offset: Int64 = 0

        /// Sizes of the batches that were delivered and are not committed.
        var uncommitted: [Int] = []

        /// Offsets of the records that the last commit left out.
        var waiting: [Int64] = []

        /// Number of commits that will fail.
        var failures = 0
        var isStopped = false
    }

    private let state = Mutex(State())
    private let exit = Mutex<Gate?>(nil)
    private let broker = Mutex<Gate?>(nil)
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let journal: Journal

    func ownedShare() async -> Double? { 1 }

    init(journal: Journal) {
        self.journal = journal
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds a request for each of the numbers.
    func add(_ numbers: [String]) {
        state.withLock { state in
            for number in numbers {
                state.offset += 1
                state.records.append(
                    .request(id: "request-\(number)", phoneNumber: number, offset: state.offset, at: .now)
                )
            }
        }
        signal.yield()
    }

    func add(records: [InboundRecord]) {
        state.withLock { $0.records += records }
        signal.yield()
    }

    /// Number of records that were not delivered yet.
    var waiting: Int { state.withLock { $0.records.count } }

    func nextBatch(maximum: Int) async throws -> SourceBatch? {
        var signals = signals.makeAsyncIterator()
        while true {
            let records = state.withLock { state in
                let records = state.isStopped ? [] : Array(state.records.prefix(maximum))
                state.records.removeFirst(records.count)
                if !records.isEmpty { state.uncommitted.append(records.count) }
                return records
            }
            if !records.isEmpty {
                journal.note(.taken(records.count))
                return SourceBatch(records: records)
            }
            guard await signals.next(isolation: #isolation) != nil else { return nil }
        }
    }

    func stopReading() {
        state.withLock { $0.isStopped = true }
        signal.finish()
    }

    var leftOut: [Int64] { state.withLock(\.waiting) }

    func commit(_ positions: [SourcePosition], before waiting: [WaitingRecord]) async -> Bool {
        await broker.withLock(\.self)?.pass()
        let count: Int? = state.withLock { state in
            guard state.failures == 0 else {
                state.failures -= 1
                return nil
            }
            state.waiting = waiting.map(\.record.offset)
            // A position is committed again once the waiting records of its batch are decided.
            let batches = state.uncommitted.prefix(positions.count)
            state.uncommitted.removeFirst(batches.count)
            return batches.reduce(0, +)
        }
        if let count { journal.note(.committed(count)) }
        return count != nil
    }

    func failCommits(_ times: Int) {
        state.withLock { $0.failures = times }
    }

    /// Delays every commit until the gate is open.
    func keepCommits(until gate: Gate) {
        broker.withLock { $0 = gate }
    }

    /// Leaves the consumer group once intake has ended.
    func run() async throws {
        try? await gracefulShutdown()
        journal.note(.left)
        await exit.withLock(\.self)?.pass()
    }

    /// Opens the gates of commits and of leaving.
    func letGo() {
        broker.withLock(\.self)?.open()
        exit.withLock(\.self)?.open()
    }

    /// Delays leaving the group until the gate is open.
    func leave(through gate: Gate) {
        exit.withLock { $0 = gate }
    }
}

/// A sink that stores the published records.
final class MemorySink: RecordSink, Service {
    private struct State {
        var published: [OutboxRecord] = []
        var failures = 0
        var refused: Int32?
        var isHeld: @Sendable (OutboxRecord) -> Bool = { _ in false }
        var held: [(record: OutboxRecord, answer: @Sendable (OutboxRecord, (any Error)?) -> Void)] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let journal: Journal

    init(journal: Journal) {
        self.journal = journal
    }

    func fail(_ times: Int) {
        state.withLock { $0.failures = times }
    }

    /// Refuses events with this sequence number; nil refuses none.
    func refuse(_ sequence: Int32?) {
        state.withLock { $0.refused = sequence }
    }

    /// Delays the acknowledgement of matching records until `letGo`.
    func hold(_ isHeld: @escaping @Sendable (OutboxRecord) -> Bool) {
        state.withLock { $0.isHeld = isHeld }
    }

    /// Number of unacknowledged records.
    var held: Int { state.withLock { $0.held.count } }

    /// Acknowledges the delayed records, and stops all delays and refusals.
    func letGo() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.refused = nil
            state.isHeld = { _ in false }
            state.published += state.held.map(\.record)
            return state.held
        }
        for (record, answer) in held { answer(record, nil) }
    }

    /// The sequence numbers of the published records, in order.
    var sequences: [Int32] { state.withLock { $0.published.map(\.sequence) } }

    /// The sequence numbers of the published records of each stream.
    var streams: [Set<Int32>] {
        Dictionary(grouping: state.withLock(\.published), by: \.stream).values.map { Set($0.map(\.sequence)) }
    }

    var hasFailures: Bool { state.withLock { $0.failures > 0 } }

    /// Status and reason of each published event, without those of `pending`.
    var answers: [String] { words.filter { $0 != Self.sendPending } }

    /// Number of events which say that a message has not left yet.
    var pending: Int { words.count { $0 == Self.sendPending } }

    private static let sendPending = "suppressed send_pending"

    private var words: [String] {
        state.withLock(\.published).map { record in
            guard let value = record.value, case .object(let event)? = try? JSONScanner.parse(value) else { return "" }
            return [event.text("status"), event.text("reason")].compactMap { $0 }.joined(separator: " ")
        }
    }

    /// The costs in the published events, such as `0.10 USD`.
    var costs: [String] {
        state.withLock(\.published).compactMap { record in
            guard let value = record.value, case .object(let event)? = try? JSONScanner.parse(value),
                case .object(let cost)? = event["cost"]
            else { return nil }
            return [cost.text("amount"), cost.text("currency")].compactMap { $0 }.joined(separator: " ")
        }
    }

    /// The providers' error codes in the published events.
    var errorCodes: [String] {
        state.withLock(\.published).compactMap { record in
            guard let value = record.value, case .object(let event)? = try? JSONScanner.parse(value),
                case .object(let send)? = event["send"]
            else { return nil }
            return send.text("errorCode")
        }
    }

    /// The reasons of the dead letters.
    var deadLetters: [String] {
        state.withLock(\.published).filter(\.isDeadLetter).compactMap { record in
            record.headers.first { $0.name == "dead-letter-reason" }?.value.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Returns a separate destination for each stream, so that a delayed or refused record blocks no other stream.
    func destination(of record: OutboxRecord) -> Destination {
        Destination(topic: "deliveries", partition: Int32(truncatingIfNeeded: record.stream.hashValue))
    }

    func publish(
        _ records: [OutboxRecord],
        _ answer: @escaping @Sendable (OutboxRecord, (any Error)?) -> Void
    ) async {
        #expect(EventContract.violations(in: records) == [])
        let (taken, refused) = state.withLock { state -> ([OutboxRecord], [OutboxRecord]) in
            guard state.failures == 0, !state.isClosed else {
                state.failures = max(0, state.failures - 1)
                return ([], records)
            }
            let held = records.filter(state.isHeld)
            let taken = records.filter { $0.sequence != state.refused && !held.contains($0) }
            journal.note(.produced(taken.count))
            state.held += held.map { (record: $0, answer: answer) }
            state.published += taken
            return (taken, records.filter { !taken.contains($0) && !held.contains($0) })
        }
        for record in taken { answer(record, nil) }
        for record in refused { answer(record, KafkaError(.timedOut)) }
    }

    func run() async throws {
        try? await gracefulShutdown()
        state.withLock { $0.isClosed = true }
    }
}
