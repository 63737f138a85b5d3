// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The outbox with PostgreSQL's rule: a record waits until the earlier records of its stream are deleted.
struct MemoryOutbox {
    private var entries: [(record: OutboxRecord, isHeld: Bool)] = []

    var count: Int { entries.count }

    /// True when a record without a lease is waiting.
    var hasWaiting: Bool { entries.contains { !$0.isHeld } }

    /// Adds records, and returns the ones that are handed over for publication.
    mutating func add(_ records: [OutboxRecord]) -> [OutboxRecord] {
        records.filter { record in
            let isFirst = !entries.contains { $0.record.stream == record.stream }
            entries.append((record, isFirst))
            return isFirst
        }
    }

    /// Leases the records without a lease, for each stream an uninterrupted run from its first record.
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

    mutating func release(_ streams: [UUIDValue]) {
        let streams = Set(streams)
        for index in entries.indices where streams.contains(entries[index].record.stream) {
            entries[index].isHeld = false
        }
    }

    /// Expires all leases.
    mutating func lapse() {
        for index in entries.indices { entries[index].isHeld = false }
    }
}
