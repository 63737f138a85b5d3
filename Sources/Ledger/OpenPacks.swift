// SPDX-License-Identifier: Apache-2.0

package import Formats
import Synchronization
package import Verification

/// The packs that this worker wrote and that are still in the table, with their unpublished records.
package final class OpenPacks: Sendable {
    fileprivate struct Pack {
        let records: [OutboxKey]

        /// The end of the lease: from then on other workers may claim the pack, too.
        let end: ContinuousClock.Instant
        var left: Int

        /// The time at which the first of its records was published.
        var since: ContinuousClock.Instant?
    }

    fileprivate struct State {
        var packs: [Int64: Pack] = [:]

        /// The pack of each unpublished record.
        var packOf: [OutboxKey: Int64] = [:]

        func left(of id: Int64) -> [OutboxKey] { packs[id]?.records.filter { packOf[$0] == id } ?? [] }
    }

    /// The changes to packs that follow from published or released records.
    package struct Plan {
        /// Packs whose records are all published.
        var published: [(id: Int64, records: [OutboxKey])]

        /// Packs to replace by rows, with their unpublished records.
        var unpacked: [(id: Int64, records: [OutboxKey])]

        /// Records outside of packs.
        var rows: [OutboxRecord]

        /// Published records of the packs that are replaced by rows.
        fileprivate(set) var freed: [OutboxKey] = []

        /// Published records of packs that still have unpublished ones.
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

    /// Maximum time for which a pack's published records wait for its unpublished ones.
    ///
    /// Later events of their verifications wait until the records are deleted from the table.
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

    /// Plans the release of records, whose packs become rows.
    func plan(givenBack records: [OutboxRecord]) -> Plan {
        state.withLock { state in
            let packs = Set(records.compactMap { state.packOf[OutboxKey($0)] })
            return Plan(unpacked: packs.map { ($0, state.left(of: $0)) })
        }
    }

    /// Applies a plan whose statements are committed.
    ///
    /// The packs in `held`, which another transaction locked, are part of the next plan again.
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
            // Records that the full queue rejected are never reported as published: sweeps publish them.
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
