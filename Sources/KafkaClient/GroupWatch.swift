// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// Other programs in a consumer group that is meant for workers alone: they take partitions, or keep workers out.
package enum GroupConflict: String, Sendable {
    /// Members that are no workers.
    case otherClients = "other_clients"

    /// Members that read other topics.
    case otherTopics = "other_topics"

    /// Members of another protocol or with another assignor.
    case otherProtocol = "other_protocol"
}

/// A consumer group as its coordinator describes it.
struct GroupDescription: Sendable {
    struct Member: Sendable {
        let clientID: String
        let topics: Set<String>
    }

    let members: [Member]

    /// What speaks against the group being that of workers who read these topics; nil for nothing.
    func conflict(reading topics: [String], as clientID: String) -> GroupConflict? {
        if members.contains(where: { $0.clientID != clientID }) { return .otherClients }
        if members.contains(where: { !$0.topics.isSubset(of: topics) }) { return .otherTopics }
        return nil
    }
}

/// When to join a group, and when to look who is in it.
///
/// A group that rebalances waits for a member that was killed until its session is over, and the others stand still
/// meanwhile. So a worker that starts into a group with members joins a moment later: of the session of one that died just
/// before less is left then. Pure: the owner asks the coordinator.
struct GroupWatch {
    /// How long a group that has members is left alone: with the shortest session that brokers allow, 6 s, it stands
    /// still for less than 4 s then.
    static let courtesy = Duration.seconds(2)

    /// The time between two looks, and until a conflict that lasts is told again.
    static let pause = Duration.seconds(30)

    /// When to join; nil for a group that was joined.
    private var joining: ContinuousClock.Instant?
    private var next: ContinuousClock.Instant?
    private var conflict: GroupConflict?
    private var toldAt: ContinuousClock.Instant?

    /// True while the group is not joined yet.
    var isWaiting: Bool { joining != nil }

    /// Takes the first look at the group; nil where the coordinator did not answer.
    mutating func begin(_ description: GroupDescription?, at now: ContinuousClock.Instant) {
        let hasMembers = description?.members.isEmpty == false
        joining = hasMembers ? now + Self.courtesy : now
        next = now + Self.pause
    }

    /// True once, when it is time to join.
    mutating func isTimeToJoin(at now: ContinuousClock.Instant) -> Bool {
        guard let joining, now >= joining else { return false }
        self.joining = nil
        return true
    }

    /// True at the time for a look.
    mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        guard joining == nil, let next, now >= next else { return false }
        self.next = now + Self.pause
        return true
    }

    /// Takes a look, and returns the conflict to tell: a new one at once, and one that lasts again after a pause.
    mutating func note(_ found: GroupConflict?, at now: ContinuousClock.Instant) -> GroupConflict? {
        defer { conflict = found }
        guard let found else { return nil }
        if found == conflict, let toldAt, now - toldAt < Self.pause { return nil }
        toldAt = now
        return found
    }
}

extension KafkaConsumer {
    /// Looks who is in the group before it is joined.
    func beginJoining() {
        let description = handle?.members(of: groupID, within: .seconds(1))
        groupWatch.begin(description, at: .now)
        note(description)
    }

    /// Joins the group when it is time, and looks at it now and then.
    func watchGroup() {
        if groupWatch.isTimeToJoin(at: .now) { subscribe() }
        guard areBrokersReachable, revocation == nil, groupWatch.isDue(at: .now) else { return }
        note(handle?.members(of: groupID, within: .milliseconds(500)))
    }

    func tell(_ conflict: GroupConflict?) {
        if let conflict = groupWatch.note(conflict, at: .now) { notify(.groupShared(conflict)) }
    }

    private func note(_ description: GroupDescription?) {
        guard let description else { return }
        tell(description.conflict(reading: topics, as: KafkaConfiguration.clientID))
    }

    private func subscribe() {
        do {
            try handle?.subscribe(topics)
        } catch {
            fail(error)
        }
    }
}

extension ClientHandle {
    /// Who is in a group; nil where nobody answered in time and where there is no such group.
    ///
    /// It blocks the thread meanwhile. By the older one of the library's two calls: the newer one locks a client below 2.3 up where brokers do not know it.
    func members(of group: String, within limit: Duration) -> GroupDescription? {
        var list: UnsafePointer<rd_kafka_group_list>?
        let code = unsafe rd_kafka_list_groups(client, group, &list, limit.milliseconds)
        guard let list = unsafe list else { return nil }
        defer { unsafe rd_kafka_group_list_destroy(list) }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR__PARTIAL,
            unsafe list.pointee.group_cnt > 0, let found = unsafe list.pointee.groups,
            unsafe found.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR
        else { return nil }
        let members = unsafe UnsafeBufferPointer(start: found.pointee.members, count: Int(found.pointee.member_cnt))
        return unsafe GroupDescription(members: members.map { unsafe GroupDescription.Member($0) })
    }
}

extension GroupDescription.Member {
    /// Copies what is wanted of the library's description.
    fileprivate init(_ member: rd_kafka_group_member_info) {
        clientID = unsafe member.client_id.map { unsafe String(cString: $0) } ?? ""
        let bytes = unsafe UnsafeRawBufferPointer(
            start: member.member_metadata,
            count: Int(max(0, member.member_metadata_size))
        )
        topics = Self.topics(in: unsafe Array(bytes))
    }

    /// The topics of a subscription: a version, a count, and of each topic its length and its name.
    static func topics(in bytes: [UInt8]) -> Set<String> {
        var rest = bytes[...]
        func number(_ size: Int) -> Int? {
            guard rest.count >= size else { return nil }
            defer { rest = rest.dropFirst(size) }
            return rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
        }
        var topics: Set<String> = []
        guard number(2) != nil, let count = number(4) else { return [] }
        for _ in 0..<count {
            guard let length = number(2), rest.count >= length else { break }
            topics.insert(String(decoding: rest.prefix(length), as: UTF8.self))
            rest = rest.dropFirst(length)
        }
        return topics
    }
}
