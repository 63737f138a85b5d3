// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Verification

/// The records whose rows another transaction locks, in the order in which they came.
///
/// They are retried beside the others, and a person's later requests wait behind them.
final class WaitingRecords: Sendable {
    /// From so many on intake reads no more.
    static let limit = 1_000

    private let records = Mutex<[WaitingRecord]>([])

    var all: [WaitingRecord] { records.withLock(\.self) }
    var isFull: Bool { records.withLock(\.count) >= Self.limit }

    /// The candidates that wait for no earlier request of the same person, and the others.
    func split(_ candidates: [Candidate]) -> (free: [Candidate], waiting: [Candidate]) {
        let records = all
        if records.isEmpty { return (candidates, []) }
        let slots = Set(records.flatMap(\.slots))
        let keys = Set(records.map(\.key))
        var (free, waiting) = ([Candidate](), [Candidate]())
        for candidate in candidates {
            let waits = keys.contains(candidate.key) || candidate.possiblyPassed.contains { slots.contains($0.slot) }
            if waits { waiting.append(candidate) } else { free.append(candidate) }
        }
        return (free, waiting)
    }

    func add(_ candidates: [Candidate], at position: SourcePosition) {
        if candidates.isEmpty { return }
        records.withLock { $0 += candidates.map { WaitingRecord($0, at: position) } }
    }

    /// Notes that the first records were tried: those at these places wait on, behind the others, and the rest is decided.
    func tried(_ count: Int, leaving places: Set<RecordPlace>) {
        records.withLock { records in
            let waiting = records.prefix(count).filter { places.contains($0.place) }
            records.removeFirst(count)
            records += waiting
        }
    }
}

/// A record that was read and is not decided.
package struct WaitingRecord: Sendable {
    package let record: InboundRecord

    /// Of the batch that it came in.
    package let position: SourcePosition
    let place: RecordPlace

    /// What a later request of the same person has in common with it.
    let slots: [SlotKey]
    let key: RequestKey

    init(_ candidate: Candidate, at position: SourcePosition) {
        self.position = position
        record = candidate.record
        place = candidate.place
        slots = candidate.possiblyPassed.map(\.slot)
        key = candidate.key
    }
}
