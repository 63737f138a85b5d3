// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Verification

/// The records whose rows another transaction locks, in the order in which they came.
///
/// They are retried beside the others, and a person's later requests wait behind them. What is still locked keeps its place:
/// otherwise a person's later request would come before it.
final class WaitingRecords: Sendable {
    /// From so many on a stage reads no more.
    static let limit = 1_000

    private struct State {
        var records: [WaitingRecord] = []

        /// Where the next try begins, so that each has its turn.
        var next: RecordPlace?

        /// The places of each record's predecessors: the last one before it with the same request id or slot.
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
    var isFull: Bool { state.withLock { $0.records.count >= Self.limit } }

    /// The candidates that wait for no earlier request of the same person, and the others.
    func split(_ candidates: [Candidate]) -> (free: [Candidate], waiting: [Candidate]) {
        let records = all
        if records.isEmpty { return (candidates, []) }
        let slots = Set(records.flatMap(\.slots))
        let keys = Set(records.compactMap(\.key))
        var (free, waiting) = ([Candidate](), [Candidate]())
        for candidate in candidates {
            let waits = keys.contains(candidate.key) || candidate.possiblyPassed.contains { slots.contains($0.slot) }
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

    /// The records to be tried now, in their order: each has its turn, and none is tried without those of the same person
    /// that came before it.
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

    /// Notes that records were tried: those at these places wait on, where they are, and the rest is decided.
    func tried(_ tried: [WaitingRecord], leaving places: Set<RecordPlace>) {
        let decided = Set(tried.map(\.place)).subtracting(places)
        if decided.isEmpty { return }
        state.withLock { state in state.records.removeAll { decided.contains($0.place) } }
    }
}

/// A record that was read and is not decided.
package struct WaitingRecord: Sendable {
    package let record: InboundRecord

    /// Of the batch that it came in.
    package let position: SourcePosition
    let place: RecordPlace

    /// The things that a later request of the same person has in common with it; a receipt has none.
    let slots: [SlotKey]
    let key: RequestKey?

    init(_ candidate: Candidate, at position: SourcePosition) {
        self.position = position
        record = candidate.record
        place = candidate.place
        slots = candidate.possiblyPassed.map(\.slot)
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
