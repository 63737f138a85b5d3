// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Verification

/// The records whose rows another transaction locks, in order of arrival.
///
/// They are retried concurrently with new batches, and later requests of the same recipient wait behind them. A record
/// that is still locked keeps its place, so that no later request of its recipient overtakes it.
final class WaitingRecords: Sendable {
    /// Number of waiting records at which a stage stops reading.
    static let limit = 1_000

    private struct State {
        var records: [WaitingRecord] = []

        /// The start of the next retry, so that every record is retried in turn.
        var next: RecordPlace?

        /// The indexes of each record's predecessors: the last earlier one with the same request id or slot.
        var predecessors: [[Int]] {
            var slots: [SlotKey: Int] = [:]
            var keys: [RequestKey: Int] = [:]
            return records.enumerated().map { index, record in
                var before = record.slots.compactMap { slots.updateValue(index, forKey: $0) }
                if let key = record.key, let last = keys.updateValue(index, forKey: key) { before.append(last) }
                return before.filter { $0 != index }
            }
        }
    }

    private let state = Mutex(State())

    var all: [WaitingRecord] { state.withLock(\.records) }
    private var isFull: Bool { state.withLock { $0.records.count >= Self.limit } }

    /// Waits while it is full; returns at a stop, too.
    ///
    /// Polls: records leave at the pace of their retries, so a tenth of a second costs no throughput.
    func waitForRoom() async {
        while isFull, !Task.isStopping { await Task.pause(until: .now + .milliseconds(100)) }
    }

    /// Splits candidates into those without a waiting earlier request of the same recipient, and the others.
    func split(_ candidates: [Candidate]) -> (free: [Candidate], waiting: [Candidate]) {
        let records = all
        if records.isEmpty { return (candidates, []) }
        let slots = Set(records.flatMap(\.slots))
        let keys = Set(records.compactMap(\.key))
        var (free, waiting) = ([Candidate](), [Candidate]())
        for candidate in candidates {
            let waits = keys.contains(candidate.key) || candidate.possibleOutcomes.contains { slots.contains($0.slot) }
            if waits { waiting.append(candidate) } else { free.append(candidate) }
        }
        return (free, waiting)
    }

    func add(_ candidates: [Candidate], at position: SourcePosition) {
        add(candidates.map { WaitingRecord($0, at: position) })
    }

    func add(_ records: [WaitingRecord]) {
        if records.isEmpty { return }
        state.withLock { $0.records += records }
    }

    /// Picks the records to retry now, in order: all in turn, and none without its predecessors.
    func next(upTo limit: Int) -> [WaitingRecord] {
        state.withLock { state in
            let count = state.records.count
            if limit >= count { return state.records }
            let predecessors = state.predecessors
            let start = state.records.firstIndex { $0.place == state.next } ?? 0
            var chosen: Set<Int> = []
            for step in 0..<count where chosen.count < limit {
                let index = (start + step) % count
                guard predecessors[index].allSatisfy(chosen.contains) else {
                    continue
                }
                chosen.insert(index)
                state.next = state.records[(index + 1) % count].place
            }
            return chosen.sorted().map { state.records[$0] }
        }
    }

    /// Removes retried records, except those at `places`, which are still locked.
    func tried(_ tried: [WaitingRecord], leaving places: Set<RecordPlace>) {
        let decided = Set(tried.map(\.place)).subtracting(places)
        if decided.isEmpty { return }
        state.withLock { state in state.records.removeAll { decided.contains($0.place) } }
    }
}

/// A record that was read but not decided.
package struct WaitingRecord: Sendable {
    package let record: InboundRecord

    package let position: SourcePosition
    let place: RecordPlace

    /// The slots it shares with later requests of the same recipient; empty for a receipt.
    let slots: [SlotKey]
    let key: RequestKey?

    init(_ candidate: Candidate, at position: SourcePosition) {
        self.position = position
        record = candidate.record
        place = candidate.place
        slots = candidate.possibleOutcomes.map(\.slot)
        key = candidate.key
    }

    init(receipt record: InboundRecord, at position: SourcePosition) {
        self.position = position
        self.record = record
        place = RecordPlace(record)
        slots = []
        key = nil
    }
}
