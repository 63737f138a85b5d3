// SPDX-License-Identifier: Apache-2.0

import Verification

/// The outbox as PostgreSQL keeps it: a record behind another one of its stream waits until that one is gone.
struct MemoryOutbox {
    private var entries: [(record: OutboxRecord, isHeld: Bool)] = []

    var count: Int { entries.count }

    /// Whether something waits that nobody holds.
    var hasWaiting: Bool { entries.contains { !$0.isHeld } }

    /// Adds records and returns those that are handed over.
    mutating func add(_ records: [OutboxRecord]) -> [OutboxRecord] {
        records.filter { record in
            let isFirst = !entries.contains { $0.record.stream == record.stream }
            entries.append((record, isFirst))
            return isFirst
        }
    }

    /// Takes what nobody holds, of each stream a run from its first one on.
    mutating func takeOver() -> [OutboxRecord] {
        var blocked: Set<UUIDValue> = []
        var taken: [UUIDValue: Int] = [:]
        var records: [OutboxRecord] = []
        for index in entries.indices {
            let record = entries[index].record
            if entries[index].isHeld {
                blocked.insert(record.stream)
            } else if !blocked.contains(record.stream), taken[record.stream, default: 0] < 32 {
                entries[index].isHeld = true
                taken[record.stream, default: 0] += 1
                records.append(record)
            }
        }
        return records
    }

    mutating func remove(_ records: [OutboxRecord]) {
        entries.removeAll { records.contains($0.record) }
    }

    mutating func giveBack(_ streams: [UUIDValue]) {
        let streams = Set(streams)
        for index in entries.indices where streams.contains(entries[index].record.stream) {
            entries[index].isHeld = false
        }
    }

    /// Lets whoever holds something lose it.
    mutating func lapse() {
        for index in entries.indices { entries[index].isHeld = false }
    }
}
