// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// Other programs in a consumer group that is meant for workers only: they get partitions, or keep workers out.
package enum GroupConflict: String, Sendable {
    /// Members that are not workers.
    case otherClients = "other_clients"

    case otherTopics = "other_topics"

    /// Members with another protocol or assignor.
    case otherProtocol = "other_protocol"
}

/// A consumer group as its coordinator describes it.
struct GroupDescription: Sendable {
    struct Member: Sendable {
        let clientID: String
        let topics: Set<String>
    }

    let members: [Member]

    /// The sign that the group does not belong to workers that read these topics; nil without one.
    func conflict(reading topics: [String], as clientID: String) -> GroupConflict? {
        if members.contains(where: { $0.clientID != clientID }) { return .otherClients }
        if members.contains(where: { !$0.topics.isSubset(of: topics) }) { return .otherTopics }
        return nil
    }
}

/// Decides when to join a group, and when to check its members.
///
/// A rebalance waits for a killed member until its session times out, and the other members read nothing meanwhile. So
/// a worker that starts joins a group with members after a delay: if a member has just died, less of its session is
/// left by then.
struct GroupWatch: Watch {
    /// Delay before joining a group that has members.
    ///
    /// With the shortest session that brokers allow, 6 s, the rebalance then takes less than 4 s.
    static let courtesy = Duration.seconds(2)

    /// The time between two checks, and between two reports of a lasting conflict.
    static let pause = Duration.seconds(30)

    private let topics: [String]

    /// The time to join; nil after joining.
    private var joining: ContinuousClock.Instant?
    private var next: ContinuousClock.Instant?
    private var conflict: GroupConflict?
    private var reportedAt: ContinuousClock.Instant?

    init(topics: [String]) { self.topics = topics }

    /// Sets the time to join by the first check of the members, and reports conflicts.
    mutating func see(_ event: WatchEvent, at now: ContinuousClock.Instant) -> [WatchAction] {
        switch event {
        case .members(let description):
            if next == nil {
                let hasMembers = description?.members.isEmpty == false
                joining = hasMembers ? now + Self.courtesy : now
                next = now + Self.pause
            }
            guard let description else { return [] }
            return note(description.conflict(reading: topics, as: KafkaConfiguration.clientID), at: now)
        case .error(let error) where error.reason == .groupConflict && !error.isFatal:
            return note(.otherProtocol, at: now)
        default:
            return []
        }
    }

    /// True once, when it is time to join.
    mutating func isTimeToJoin(at now: ContinuousClock.Instant) -> Bool {
        guard let joining, now >= joining else { return false }
        self.joining = nil
        return true
    }

    mutating func due(at now: ContinuousClock.Instant) -> [WatchAction] {
        guard joining == nil, let next, now >= next else { return [] }
        self.next = now + Self.pause
        return [.askMembers(within: .milliseconds(500))]
    }

    /// Reports a new conflict at once, and a lasting one again after a pause.
    private mutating func note(_ found: GroupConflict?, at now: ContinuousClock.Instant) -> [WatchAction] {
        defer { conflict = found }
        guard let found else { return [] }
        if found == conflict, let reportedAt, now - reportedAt < Self.pause { return [] }
        reportedAt = now
        return [.notify(.groupShared(found))]
    }
}

extension ClientHandle {
    /// The members of a group; nil when no broker answered in time or the group does not exist.
    ///
    /// Blocks the thread. It uses the older of the library's two calls: the newer one blocks a client below 2.3 forever
    /// when brokers do not support it.
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
    /// Copies the needed parts of the library's description.
    fileprivate init(_ member: rd_kafka_group_member_info) {
        clientID = unsafe member.client_id.map { unsafe String(cString: $0) } ?? ""
        let bytes = unsafe UnsafeRawBufferPointer(
            start: member.member_metadata,
            count: Int(max(0, member.member_metadata_size))
        )
        topics = Self.topics(in: unsafe Array(bytes))
    }

    /// Decodes the topics of a subscription: a version, a count, then length and name of each topic.
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
