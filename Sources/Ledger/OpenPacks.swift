// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Verification

/// The packs that this worker wrote and that are in the table, with the records of each that are not published yet.
package final class OpenPacks: Sendable {
    fileprivate struct Pack {
        let records: [OutboxKey]

        /// The end of the lease: from then on it is for others, too.
        let end: ContinuousClock.Instant
        var left: Int

        /// When the first of them was published.
        var since: ContinuousClock.Instant?
    }

    fileprivate struct State {
        var packs: [Int64: Pack] = [:]

        /// Of each record that is not published.
        var packOf: [OutboxKey: Int64] = [:]

        /// The records of a pack that are not published.
        func left(of id: Int64) -> [OutboxKey] { packs[id]?.records.filter { packOf[$0] == id } ?? [] }
    }

    /// The changes that published or returned records make to their packs.
    package struct Plan {
        /// Packs that are published whole, with their records.
        var published: [(id: Int64, records: [OutboxKey])]

        /// Packs to be written out as rows, with the records that are not published.
        var unpacked: [(id: Int64, records: [OutboxKey])]

        /// Records of no pack.
        var rows: [OutboxRecord]

        /// Published records of packs that are written out.
        fileprivate(set) var freed: [OutboxKey] = []

        /// Published records of packs of which others are not published yet.
        fileprivate var waiting: [OutboxKey] = []

        package init(
            published: [(id: Int64, records: [OutboxKey])] = [],
            unpacked: [(id: Int64, records: [OutboxKey])] = [],
            rows: [OutboxRecord] = []
        ) {
            self.published = published
            self.unpacked = unpacked
            self.rows = rows
        }

        var packs: [Int64] { (published + unpacked).map(\.id) }
    }

    /// The time that the published records of a pack wait for the others.
    ///
    /// Later events of their verifications wait until they are out of the table.
    private static let patience = Duration.seconds(1)

    private let state = Mutex(State())

    func add(_ id: Int64, _ records: [OutboxKey], lease: Duration, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.packs[id] = Pack(records: records, end: now + lease, left: records.count)
            for record in records { state.packOf[record] = id }
        }
    }

    /// Plans the deletion of published records; changes nothing until `finish`.
    func plan(published records: [OutboxRecord], now: ContinuousClock.Instant = .now) -> Plan {
        state.withLock { state in
            var plan = Plan()
            var published: [Int64: Set<OutboxKey>] = [:]
            for record in records {
                let key = OutboxKey(record)
                if let id = state.packOf[key] {
                    published[id, default: []].insert(key)
                } else {
                    plan.rows.append(record)
                }
            }
            for (id, pack) in state.packs {
                let done = published[id] ?? []
                if done.count == pack.left {
                    plan.published.append((id, pack.records))
                } else if let since = pack.since, now - since > Self.patience {
                    let left = state.left(of: id).filter { !done.contains($0) }
                    plan.unpacked.append((id, left))
                    plan.freed += Set(pack.records).subtracting(left)
                } else {
                    plan.waiting += done
                }
            }
            return plan
        }
    }

    /// Plans the return of records, whose packs become rows.
    func plan(givenBack records: [OutboxRecord]) -> Plan {
        state.withLock { state in
            let packs = Set(records.compactMap { state.packOf[OutboxKey($0)] })
            return Plan(unpacked: packs.map { ($0, state.left(of: $0)) })
        }
    }

    /// Applies a plan whose statements are committed; the packs that another transaction `held` then come again in the next
    /// plan.
    func finish(_ plan: Plan, held: Set<Int64> = [], now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            for id in plan.packs where !held.contains(id) { state.forget(id) }
            let late = plan.published.filter { held.contains($0.id) }.flatMap(\.records)
            for record in plan.waiting + plan.freed + late {
                guard let id = state.packOf.removeValue(forKey: record), var pack = state.packs[id] else { continue }
                pack.left -= 1
                pack.since = pack.since ?? now
                state.packs[id] = pack
            }
            // Records that a full queue did not take are never reported: sweeps publish them.
            for id in state.packs.filter({ $0.value.end < now }).keys { state.forget(id) }
        }
    }
}

extension OpenPacks.State {
    fileprivate mutating func forget(_ id: Int64) {
        guard let pack = packs.removeValue(forKey: id) else { return }
        for record in pack.records where packOf[record] == id { packOf[record] = nil }
    }
}

/// The key of a record: dead letters have streams of their own.
package struct OutboxKey: Hashable, Sendable {
    package let stream: UUIDValue
    package let sequence: Int32
}

extension OutboxKey {
    package init(_ record: OutboxRecord) {
        self.init(stream: record.stream, sequence: record.sequence)
    }
}
