// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Verification

/// The packs that this worker wrote and that are in the table, with the records of each that are not published yet.
package final class OpenPacks: Sendable {
    fileprivate struct Pack {
        let streams: [UUIDValue]

        /// The end of the lease: from then on it is for others, too.
        let end: ContinuousClock.Instant
        var left: Int

        /// When the first of them was published.
        var since: ContinuousClock.Instant?
    }

    fileprivate struct State {
        var packs: [UUIDValue: Pack] = [:]

        /// Of each stream whose first event is not published.
        var packOf: [UUIDValue: UUIDValue] = [:]

        /// The streams of a pack that are not published.
        func left(of id: UUIDValue) -> [UUIDValue] { packs[id]?.streams.filter { packOf[$0] == id } ?? [] }
    }

    /// The changes that published or returned records make to their packs.
    package struct Plan {
        /// Packs that are published whole, with their streams.
        var published: [(id: UUIDValue, streams: [UUIDValue])]

        /// Packs to be written out as rows, with the streams that are not published.
        var unpacked: [(id: UUIDValue, streams: [UUIDValue])]

        /// Records of no pack.
        var rows: [OutboxRecord]

        /// Streams of packs of which others are not published yet.
        fileprivate var waiting: [UUIDValue] = []

        package init(
            published: [(id: UUIDValue, streams: [UUIDValue])] = [],
            unpacked: [(id: UUIDValue, streams: [UUIDValue])] = [],
            rows: [OutboxRecord] = []
        ) {
            self.published = published
            self.unpacked = unpacked
            self.rows = rows
        }

        var packs: [UUIDValue] { (published + unpacked).map(\.id) }
    }

    /// The time that the published records of a pack wait for the others.
    ///
    /// Later events of their verifications wait until they are out of the table.
    private static let patience = Duration.seconds(1)

    private let state = Mutex(State())

    func add(_ id: UUIDValue, _ streams: [UUIDValue], lease: Duration, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.packs[id] = Pack(streams: streams, end: now + lease, left: streams.count)
            for stream in streams { state.packOf[stream] = id }
        }
    }

    /// Plans the deletion of published records; changes nothing until `finish`.
    func plan(published records: [OutboxRecord], now: ContinuousClock.Instant = .now) -> Plan {
        state.withLock { state in
            var plan = Plan()
            var published: [UUIDValue: Set<UUIDValue>] = [:]
            for record in records {
                if let id = state.pack(of: record) {
                    published[id, default: []].insert(record.stream)
                } else {
                    plan.rows.append(record)
                }
            }
            for (id, pack) in state.packs {
                let done = published[id] ?? []
                if done.count == pack.left {
                    plan.published.append((id, pack.streams))
                } else if let since = pack.since, now - since > Self.patience {
                    plan.unpacked.append((id, state.left(of: id).filter { !done.contains($0) }))
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
            let packs = Set(records.compactMap { state.pack(of: $0) })
            return Plan(unpacked: packs.map { ($0, state.left(of: $0)) })
        }
    }

    /// Applies a plan whose statements are committed.
    func finish(_ plan: Plan, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            for id in plan.packs { state.forget(id) }
            for stream in plan.waiting {
                guard let id = state.packOf.removeValue(forKey: stream), var pack = state.packs[id] else { continue }
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
    fileprivate mutating func forget(_ id: UUIDValue) {
        guard let pack = packs.removeValue(forKey: id) else { return }
        for stream in pack.streams where packOf[stream] == id { packOf[stream] = nil }
    }

    fileprivate func pack(of record: OutboxRecord) -> UUIDValue? { record.isFirstEvent ? packOf[record.stream] : nil }
}
