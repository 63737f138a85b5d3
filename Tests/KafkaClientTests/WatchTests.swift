// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KafkaClient

/// Tests the state machines that watch topics and groups, without a broker.
@Suite struct WatchTests {
    private let place = TopicPartition(topic: "t", partition: 0)
    private let start = ContinuousClock.now

    @Test func `what cannot be read is over by its own success, and by no other place's`() {
        var faults = ReadFaults()
        func note(_ error: KafkaError) -> KafkaError? { faults.note(error, of: ["t"]) }
        func due(after time: Duration) -> (topics: [String], partitions: [TopicPartition]) {
            faults.due(at: start + time)
        }
        #expect(note(KafkaError(.transport)) == nil)
        #expect(note(KafkaError(.topicAuthorizationFailed).at(place))?.topic == "t")
        #expect(faults.read(TopicPartition(topic: "t", partition: 1)) == false)
        #expect(due(after: .zero).partitions == [place])
        #expect(due(after: .seconds(1)).partitions.isEmpty)
        #expect(faults.read(place) == true)
        let isOverAgain = faults.read(place)
        #expect(faults.isEmpty && !isOverAgain)

        // An error without a partition is recorded under its topic's name.
        #expect(note(KafkaError(.unknownTopicOrPartition))?.topic == "t")
        #expect(faults.clearPartitions() == false)
        #expect(due(after: .seconds(9)).topics == ["t"])
        #expect(faults.find("t") == true)

        // GROUP_AUTHORIZATION_FAILED ends when the group assigns partitions.
        #expect(note(KafkaError(.init(rawValue: 30)))?.reason == .notAuthorized)
        #expect(faults.find("t") == false)
        #expect(faults.join() == true)
    }

    @Test func `a partition whose records wait for long is asked about, now and then`() {
        var trouble = TopicTrouble()
        let (a, b) = (Destination(topic: "t", partition: 1), Destination(topic: "t", partition: 2))
        let waiting = [a: start, b: start + .seconds(3)]
        #expect(trouble.suspects(waiting, at: start + .seconds(3)) == [:])
        #expect(trouble.suspects(waiting, at: start + .seconds(4)) == ["t": [a]])
        #expect(trouble.suspects(waiting, at: start + .seconds(8)) == [:])
        #expect(trouble.suspects(waiting, at: start + .seconds(9)).mapValues { Set($0) } == ["t": [a, b]])
        trouble.note(KafkaError(.notEnoughReplicas), of: a)
        #expect(trouble.cause(of: a)?.reason == .tooFewInSync)
        trouble.clear("t", 2)
        #expect(trouble.cause(of: a) != nil, "another partition's success ends nothing")
        trouble.clear("t", 1)
        #expect(trouble.cause(of: a) == nil)
    }

    @Test func `partitions whose leaders are away for some seconds cannot be read, until they are back`() throws {
        func statistics(broker: Int, state: String) throws -> ClientStatistics {
            try #require(
                ClientStatistics(
                    json: """
                        {"name":"c","brokers":{"h:1/1":{"nodeid":1,"nodename":"h:1","state":"\(state)","rtt":{}},
                        "h:2/2":{"nodeid":2,"nodename":"h:2","state":"UP"}},"topics":{"t":{"topic":"t","partitions":{
                        "0":{"partition":0,"broker":\(broker),"leader":1},"-1":{"partition":-1,"broker":-1}}}}}
                        """
                )
            )
        }
        var watch = LeaderWatch()
        let (away, gone) = (try statistics(broker: 1, state: "CONNECT"), try statistics(broker: -1, state: "UP"))
        let partitions = [place, TopicPartition(topic: "t", partition: 7)]
        #expect(watch.absent(of: partitions, in: away, at: start) == [:])
        let absent = watch.absent(of: partitions, in: away, at: start + .seconds(4))
        #expect(absent.keys.sorted { $0.partition < $1.partition } == [place])
        #expect((absent[place]?.reason, absent[place]?.broker) == (.connectionLost, "h:1"))
        #expect(watch.absent(of: partitions, in: gone, at: start + .seconds(6))[place]?.reason == .leaderMissing)
        let isBack = try statistics(broker: 2, state: "CONNECT")
        #expect(watch.absent(of: partitions, in: isBack, at: start + .seconds(8)) == [:])
        #expect(watch.absent(of: partitions, in: away, at: start + .seconds(10)) == [:], "it counts anew")
        #expect(ClientStatistics(json: "{") == nil)

        var faults = ReadFaults()
        let error = try #require(absent[place])
        #expect(faults.watch([place: error]).begun == [error])
        #expect(faults.watch([place: error]).begun == [], "it is told once")
        #expect(!faults.isEmpty && faults.due(at: start).partitions.isEmpty)
        #expect(faults.watch([:]).ended == [place])
        #expect(faults.isEmpty)
    }

    @Test func `a key's partition is known once its topic is counted, and counted anew when there are more`() {
        let counts = PartitionCounts()
        let key = Array("4915123467890".utf8)
        #expect(counts.uncounted(at: start) == nil)
        #expect(counts.destination(of: key, in: "t") == Destination(topic: "t"))
        #expect(counts.uncounted(at: start) == "t")
        #expect(counts.uncounted(at: start + .seconds(4)) == nil, "an answer takes its time")
        #expect(counts.uncounted(at: start + .seconds(5)) == "t")
        counts.note(6, of: "t")
        #expect(counts.uncounted(at: start + .seconds(60)) == nil)
        #expect((0..<6).contains(counts.destination(of: key, in: "t").partition ?? -1))
        #expect(
            counts.destination(of: [], in: "t").partition == nil
                && counts.destination(of: nil, in: "t").partition == nil
        )
        counts.noteDelivery(to: 5, of: "t")
        #expect(counts.uncounted(at: start + .seconds(60)) == nil)
        counts.noteDelivery(to: 6, of: "t")
        #expect(counts.uncounted(at: start + .seconds(60)) == "t")
    }

    @Test func `a position that does not move before unread records grows old`() {
        var lag = LagWatch()
        #expect(lag.age(of: place, at: 5, lag: 2, now: start) == .zero)
        #expect(lag.age(of: place, at: 5, lag: 9, now: start + .seconds(40)) == .seconds(40))
        #expect(lag.age(of: place, at: 6, lag: 1, now: start + .seconds(50)) == .zero)
        #expect(lag.age(of: place, at: 6, lag: 0, now: start + .seconds(60)) == .zero)
        #expect(lag.age(of: place, at: 6, lag: 1, now: start + .seconds(70)) == .zero)
    }

    @Test func `a position is behind what was handed out and behind what is no record`() {
        var assignment = Assignment()
        assignment.assign([place])
        #expect(assignment.position(of: place) == nil)
        assignment.reachEnd(of: place, at: 7)
        #expect(assignment.position(of: place) == 7)
        let record = ConsumerRecord(
            topic: "t",
            partition: 0,
            offset: 9,
            timestamp: 1,
            key: nil,
            value: nil,
            headers: []
        )
        _ = assignment.handOut([record])
        #expect(assignment.position(of: place) == 10)
        assignment.reachEnd(of: place, at: 12)
        #expect(assignment.position(of: place) == 12)
        assignment.assign([place])
        #expect(assignment.position(of: place) == nil)
    }

    @Test func `a group with members is joined a moment later, any other at once`() {
        func joined(_ description: GroupDescription?, after time: Duration) -> Bool {
            var watch = GroupWatch()
            watch.begin(description, at: start)
            return watch.isTimeToJoin(at: start + time)
        }
        let member = GroupDescription.Member(clientID: "code-courier", topics: ["t"])
        #expect(joined(nil, after: .zero))
        #expect(joined(GroupDescription(members: []), after: .zero))
        #expect(!joined(GroupDescription(members: [member]), after: .milliseconds(1900)))
        #expect(joined(GroupDescription(members: [member]), after: .seconds(2)))
    }

    @Test(
        arguments: [
            ([0, 3, 0, 0, 0, 2, 0, 1, 97, 0, 2, 98, 99, 255], ["a", "bc"]), ([0, 1, 0, 0, 0, 1, 0, 9, 97], []),
            ([0, 0, 255, 255, 255, 255, 0, 1, 97], ["a"]), ([0], []), ([], []),
        ] as [([UInt8], Set<String>)]
    )
    func `a member's subscription is read as far as it goes`(bytes: [UInt8], topics: Set<String>) {
        #expect(GroupDescription.Member.topics(in: bytes) == topics)
    }

    @Test func `strangers in a group are told again every half minute, and at once when they have been away`() {
        let worker = GroupDescription.Member(clientID: "code-courier", topics: ["t"])
        let other = GroupDescription.Member(clientID: "billing", topics: ["t"])
        let elsewhere = GroupDescription.Member(clientID: "code-courier", topics: ["u"])
        func conflict(_ members: [GroupDescription.Member]) -> GroupConflict? {
            GroupDescription(members: members).conflict(reading: ["t"], as: "code-courier")
        }
        #expect(conflict([worker, worker]) == nil)
        #expect(conflict([worker, other]) == .otherClients)
        #expect(conflict([worker, elsewhere]) == .otherTopics)
        var watch = GroupWatch()
        func told(_ conflict: GroupConflict?, after seconds: Double) -> GroupConflict? {
            watch.note(conflict, at: start + .seconds(seconds))
        }
        #expect(told(.otherClients, after: 0) == .otherClients)
        #expect(told(.otherClients, after: 29) == nil)
        #expect(told(.otherClients, after: 30) == .otherClients)
        #expect(told(.otherProtocol, after: 31) == .otherProtocol)
        #expect(told(nil, after: 60) == nil)
        #expect(told(.otherProtocol, after: 60) == .otherProtocol)
    }

    @Test func `another id, or a later record before those that were read, is another topic`() {
        var identity = TopicIdentity()
        let ids = [(2, "t"), (2, "t"), (3, "t"), (9, "u")] as [(Int64, String)]
        let isOther = ids.map { identity.note(TopicIdentity.ID(high: 1, low: $0), of: $1) }
        #expect(isOther == [false, false, true, false])

        #expect(!identity.contradicts(place, firstLater: 0))
        identity.read(place, 1000, 3)
        // The clock of another leader is slow.
        identity.read(place, 990, 4)
        #expect(identity.newest[place] == .init(timestamp: 1000, offset: 4))
        identity.confirm(identity.newest)
        // This read precedes the next check, and may be from the new topic at the old position. The check uses only
        // marks from before it.
        identity.read(place, 2000, 9)
        #expect(identity.marks[place] == .init(timestamp: 1000, offset: 4))
        #expect(identity.contradicts(place, firstLater: 0))
        #expect(!identity.contradicts(place, firstLater: 5))
        #expect(!identity.contradicts(place, firstLater: -1))
    }
}
