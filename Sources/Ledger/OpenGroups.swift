// SPDX-License-Identifier: Apache-2.0

package import Formats
import Synchronization
package import Verification

/// The packs that this worker wrote, with their unpublished records.
package typealias OpenPacks = OpenGroups<Int64, OutboxKey>

/// The parcels that this worker claimed, with their open claims.
typealias OpenParcels = OpenGroups<UUIDValue, SendClaim>

/// Groups of rows that this worker wrote and that are still in the table, each under one lease, with their open members.
///
/// A group is deleted when its last member ends. Sweeps take over the open members after the lease has expired.
package final class OpenGroups<ID: Hashable & Sendable, Member: Identifiable & Hashable & Sendable>: Sendable {
    private struct Group {
        let members: [Member]

        /// The time at which the group is forgotten.
        ///
        /// Some members never end here, and sweeps take them over: claims whose results the database rejects, and
        /// records that the full queue rejected.
        var end: ContinuousClock.Instant
        var left: Int

        /// The time at which the first of its members ended.
        var since: ContinuousClock.Instant?

        mutating func endMember(at now: ContinuousClock.Instant) {
            left -= 1
            since = since ?? now
        }
    }

    private struct State {
        var groups: [ID: Group] = [:]

        /// The group of each open member; a later member with the same id replaces it.
        var places: [Member.ID: (group: ID, member: Member)] = [:]

        func group(of member: Member) -> ID? {
            guard let place = places[member.id], place.member == member else { return nil }
            return place.group
        }

        func left(in id: ID) -> [Member] { groups[id]?.members.filter { places[$0.id]?.group == id } ?? [] }

        mutating func forget(_ id: ID) {
            guard let group = groups.removeValue(forKey: id) else { return }
            for member in group.members where places[member.id]?.group == id { places[member.id] = nil }
        }

        mutating func forgetExpired(at now: ContinuousClock.Instant) {
            for id in groups.filter({ $0.value.end < now }).keys { forget(id) }
        }
    }

    /// The changes to groups that follow from the end of members.
    package struct Plan {
        /// Groups whose members have all ended, with these.
        package var ended: [ID: [Member]] = [:]

        /// Groups to replace by single rows, with their open members.
        var split: [ID: [Member]] = [:]

        /// Members that are in no group.
        package var single: [Member] = []

        /// Ended members of the groups in `split`, which leave the group with it.
        fileprivate(set) var freed: [Member] = []

        /// Ended members of groups that still have open ones.
        fileprivate var waiting: [Member] = []

        package init() {}

        var ids: [ID] { Array(ended.keys) + split.keys }
    }

    /// Maximum time for which a group's ended members wait for its open ones; nil for no limit.
    private let maxWait: Duration?
    private let state = Mutex(State())

    init(maxWait: Duration? = nil) {
        self.maxWait = maxWait
    }

    func add(_ id: ID, _ members: [Member], for time: Duration, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.forgetExpired(at: now)
            state.groups[id] = Group(members: members, end: now + time, left: members.count)
            for member in members { state.places[member.id] = (id, member) }
        }
    }

    /// The group of each member; nil for a member that is not open.
    func groups(of members: [Member]) -> [ID?] {
        state.withLock { state in members.map { state.group(of: $0) } }
    }

    func extend(_ ids: [ID], for time: Duration, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            for id in ids { state.groups[id]?.end = now + time }
        }
    }

    /// Plans the end of members; changes nothing until `finish`.
    func plan(ending members: [Member], now: ContinuousClock.Instant = .now) -> Plan {
        state.withLock { state in
            var plan = Plan()
            var ends: [ID: Set<Member>] = [:]
            for member in members {
                if let id = state.group(of: member) {
                    ends[id, default: []].insert(member)
                } else {
                    plan.single.append(member)
                }
            }
            for (id, group) in state.groups {
                let ends = ends[id] ?? []
                // Includes groups without open members: concurrent transactions ended their last ones.
                if ends.count == group.left {
                    plan.ended[id] = group.members
                } else if let maxWait, let since = group.since, now - since > maxWait {
                    let left = state.left(in: id).filter { !ends.contains($0) }
                    plan.split[id] = left
                    plan.freed += Set(group.members).subtracting(left)
                } else {
                    plan.waiting += ends
                }
            }
            return plan
        }
    }

    /// Plans to split the groups of members; changes nothing until `finish`.
    func plan(splitting members: [Member]) -> Plan {
        state.withLock { state in
            var plan = Plan()
            for id in Set(members.compactMap { state.group(of: $0) }) { plan.split[id] = state.left(in: id) }
            return plan
        }
    }

    /// Applies a plan whose statements are committed.
    ///
    /// The groups in `held`, which another transaction locked, are part of the next plan again.
    func finish(_ plan: Plan, held: Set<ID> = [], now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            for id in plan.ids where !held.contains(id) { state.forget(id) }
            let late = plan.ended.filter { held.contains($0.key) }.flatMap(\.value)
            for member in plan.waiting + plan.freed + late {
                guard let id = state.group(of: member) else { continue }
                state.places[member.id] = nil
                state.groups[id]?.endMember(at: now)
            }
            state.forgetExpired(at: now)
        }
    }
}

/// The key of a record: dead letters have streams of their own.
package struct OutboxKey: Hashable, Sendable, Identifiable {
    package let stream: UUIDValue
    package let sequence: Int32

    package var id: OutboxKey { self }
}

extension OutboxKey {
    package init(_ record: OutboxRecord) {
        self.init(stream: record.stream, sequence: record.sequence)
    }
}

extension SendClaim: Identifiable {
    package var id: SendID { send }
}
