// SPDX-License-Identifier: Apache-2.0

import Courier
import KafkaClient
import Logs
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Verification

/// Records from a list.
final class MemorySource: RecordSource, Service {
    private struct State {
        var records: [InboundRecord] = []
        var offset: Int64 = 0
    }

    private let state = Mutex(State())
    private let exit = Mutex<Gate?>(nil)
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let journal: Journal

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

    /// Records that nobody has taken.
    var waiting: Int { state.withLock { $0.records.count } }

    func nextBatch(maximum: Int) async throws -> SourceBatch? {
        var signals = signals.makeAsyncIterator()
        while true {
            let records = state.withLock { state in
                defer { state.records.removeFirst(min(maximum, state.records.count)) }
                return Array(state.records.prefix(maximum))
            }
            if !records.isEmpty {
                journal.note(.taken(records.count))
                return SourceBatch(records: records)
            }
            guard await signals.next(isolation: #isolation) != nil else { return nil }
        }
    }

    func commit(_ batches: [SourceBatch]) async {
        journal.note(.committed(batches.reduce(0) { $0 + $1.records.count }))
    }

    /// Leaves when intake has ended.
    func run() async throws {
        try? await gracefulShutdown()
        journal.note(.left)
        await exit.withLock(\.self)?.pass()
    }

    /// Lets leaving take until the gate is open.
    func leave(through gate: Gate) {
        exit.withLock { $0 = gate }
    }
}

/// A sink that remembers what it was given.
final class MemorySink: RecordSink, Service {
    private struct State {
        var published: [OutboxRecord] = []
        var failures = 0
        var refused: Int32?
        var isClosed = false
    }

    private let state = Mutex(State())
    private let journal: Journal

    init(journal: Journal) {
        self.journal = journal
    }

    /// Lets the next calls take nothing.
    func fail(_ times: Int) {
        state.withLock { $0.failures = times }
    }

    /// Lets events of this number not be taken; nil for taking all.
    func refuse(_ sequence: Int32?) {
        state.withLock { $0.refused = sequence }
    }

    /// The numbers of what was published, in its order.
    var sequences: [Int32] { state.withLock { $0.published.map(\.sequence) } }

    /// The numbers of what was published of each stream.
    var streams: [Set<Int32>] {
        Dictionary(grouping: state.withLock(\.published), by: \.stream).values.map { Set($0.map(\.sequence)) }
    }

    var hasFailures: Bool { state.withLock { $0.failures > 0 } }

    /// Status and reason of what was published, as its JSON has them.
    var answers: [String] {
        state.withLock(\.published).map { record in
            guard let value = record.value, case .object(let event)? = try? JSONScanner.parse(value) else { return "" }
            return [event.text("status"), event.text("reason")].compactMap { $0 }.joined(separator: " ")
        }
    }

    /// The reasons of the dead letters.
    var deadLetters: [String] {
        state.withLock(\.published).filter(\.isDeadLetter).compactMap { record in
            record.headers.first { $0.name == "dead-letter-reason" }?.value.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    func publish(_ records: [OutboxRecord]) async -> PublishedRecords {
        #expect(EventContract.violations(in: records) == [])
        return state.withLock { state in
            guard state.failures == 0, !state.isClosed else {
                state.failures = max(0, state.failures - 1)
                return PublishedRecords([], failure: KafkaError(.timedOut))
            }
            let taken = records.filter { $0.sequence != state.refused }
            journal.note(.produced(taken.count))
            state.published += taken
            return PublishedRecords(taken, failure: taken.count < records.count ? KafkaError(.timedOut) : nil)
        }
    }

    func run() async throws {
        try? await gracefulShutdown()
        state.withLock { $0.isClosed = true }
    }
}
