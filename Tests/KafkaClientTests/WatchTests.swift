// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KafkaClient

/// Tests the state machines that watch topics and groups, without a broker.
@Suite struct WatchTests {
    private let place = TopicPartition(topic: "t", partition: 0)
    private let start = ContinuousClock.now

    @Test func `what cannot be read is over by its own success, and by no other place's`() {
        var faults = ReadFaults(topics: ["t"])
        func see(_ event: WatchEvent) -> [WatchAction] { faults.see(event, at: start) }
        func record(_ partition: Int32) -> WatchEvent {
            .record(TopicPartition(topic: "t", partition: partition), offset: 1, brokerTime: nil)
        }
        let (lost, unknown) = (KafkaError(.transport), KafkaError(.unknownTopicOrPartition))
        let refused = KafkaError(.topicAuthorizationFailed).at(place)
        #expect(see(.error(lost)) == [.notify(.error(lost))])
        #expect(see(.error(KafkaError(.allBrokersDown))) == [])
        #expect(faults.isEmpty && faults.due(at: start).isEmpty)
        #expect(see(.error(refused)) == [.notify(.cannotRead(refused))])
        #expect(see(record(1)) == [])
        #expect(faults.due(at: start) == [.fetchAgain(place)])
        #expect(faults.due(at: start + .seconds(1)) == [])
        #expect(see(record(0)) == [.notify(.readsAgain)])
        #expect(faults.isEmpty && see(record(0)) == [])

        // An error without a partition is recorded under its topic's name.
        #expect(see(.error(unknown)) == [.notify(.cannotRead(unknown.at(topic: "t")))])
        #expect(see(.released) == [])
        #expect(faults.due(at: start + .seconds(9)) == [.find(topic: "t")])
        #expect(see(.found(topic: "t")) == [.notify(.readsAgain)])

        // GROUP_AUTHORIZATION_FAILED ends when the group assigns partitions.
        let forbidden = KafkaError(.init(rawValue: 30))
        #expect(see(.error(forbidden)) == [.notify(.cannotRead(forbidden.at(topic: "t")))])
        #expect(forbidden.reason == .notAuthorized)
        #expect(see(.found(topic: "t")) == [])
        #expect(see(.joined) == [.notify(.readsAgain)])
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
        var faults = ReadFaults(topics: ["t"])
        let (away, gone) = (try statistics(broker: 1, state: "CONNECT"), try statistics(broker: -1, state: "UP"))
        func see(_ statistics: ClientStatistics, after seconds: Double) -> [WatchAction] {
            let partitions = [place, TopicPartition(topic: "t", partition: 7)]
            return faults.see(.statistics(statistics, of: partitions), at: start + .seconds(seconds))
        }
        let unreachable = KafkaError(.transport).at(place).at(broker: "h:1")
        #expect(see(away, after: 0) == [])
        #expect(see(away, after: 4) == [.notify(.cannotRead(unreachable))])
        #expect(unreachable.reason == .connectionLost)
        #expect(see(away, after: 5) == [], "it is told once")
        #expect(!faults.isEmpty && faults.due(at: start) == [])
        #expect(see(gone, after: 6) == [.notify(.cannotRead(KafkaError(.leaderNotAvailable).at(place)))])
        let isBack = try statistics(broker: 2, state: "CONNECT")
        #expect(see(isBack, after: 8) == [.notify(.readsAgain)])
        #expect(faults.isEmpty)
        #expect(see(away, after: 10) == [], "it counts anew")
        #expect(see(away, after: 14) == [.notify(.cannotRead(unreachable))])
        _ = faults.see(.error(KafkaError(.unknownTopicOrPartition)), at: start)
        #expect(see(isBack, after: 15) == [.notify(.partitionReadsAgain(place))], "the topic is still missing")
        #expect(ClientStatistics(json: "{") == nil)
    }

    @Test func `an outage of all brokers is told once with the latest fault, until one answers`() {
        var brokers = BrokerWatch()
        func see(_ event: WatchEvent) -> [WatchAction] { brokers.see(event, at: start) }
        let fault = KafkaError(.transport).at(broker: "h:1")
        #expect(see(.committed) == [])
        #expect(see(.error(fault)) == [])
        #expect(see(.error(KafkaError(.allBrokersDown))) == [.notify(.brokersUnreachable(fault))])
        #expect(see(.error(KafkaError(.allBrokersDown))) == [])
        #expect(!brokers.areReachable)
        #expect(see(.released) == [] && !brokers.areReachable, "the client detects an expired session by itself")
        #expect(see(.end(place)) == [.notify(.brokersReachable)])
        #expect(see(.error(KafkaError(.allBrokersDown))) == [.notify(.brokersUnreachable(nil))])
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
        var lag = Assignment()
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
            var watch = GroupWatch(topics: ["t"])
            _ = watch.see(.members(description), at: start)
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
        var watch = GroupWatch(topics: ["t"])
        func told(_ conflict: GroupConflict?, after seconds: Double) -> GroupConflict? {
            let event: WatchEvent =
                switch conflict {
                case .otherClients: .members(GroupDescription(members: [worker, other]))
                case .otherTopics: .members(GroupDescription(members: [worker, elsewhere]))
                case .otherProtocol: .error(KafkaError(.init(rawValue: 23)))
                case nil: .members(GroupDescription(members: [worker]))
                }
            switch watch.see(event, at: start + .seconds(seconds)).first {
            case .notify(.groupShared(let conflict)): return conflict
            default: return nil
            }
        }
        #expect(told(.otherClients, after: 0) == .otherClients)
        #expect(told(.otherClients, after: 29) == nil)
        #expect(told(.otherClients, after: 30) == .otherClients)
        #expect(told(.otherProtocol, after: 31) == .otherProtocol)
        #expect(told(nil, after: 60) == nil)
        #expect(told(.otherProtocol, after: 60) == .otherProtocol)
    }

    @Test func `another id, or a later record before those that were read, is another topic`() {
        var identity = TopicIdentity(topics: ["t"])
        func see(_ event: WatchEvent) -> [WatchAction] { identity.see(event, at: start) }
        func record(_ offset: Int64, _ time: Int64?) -> WatchEvent { .record(place, offset: offset, brokerTime: time) }
        #expect(identity.due(at: start) == [.askTopicID])
        #expect(identity.due(at: start + .seconds(2)) == [])
        #expect(identity.due(at: start + .seconds(3)) == [.askTopicID])
        let ids = [2, 2, 3].map { TopicIdentity.ID(high: 1, low: $0) }
        #expect(ids.map { see(.topicID($0)) } == [[], [], [.restart(topic: "t")]])
        var identities = TopicIdentity(topics: ["t", "u"])
        #expect(ids.flatMap { identities.see(.topicID($0), at: start) } == [], "an id does not name its topic")

        #expect(see(.topicID(nil)) == [], "nothing was read")
        _ = see(record(3, 1000))
        // The clock of another leader is slow.
        _ = see(record(4, 990))
        #expect(see(.topicID(nil)) == [], "the first marks are set")
        // This read precedes the next check, and may be from the new topic at the old position. The check uses only
        // marks from before it.
        _ = see(record(9, 2000))
        #expect(see(.topicID(nil)) == [.askOffsets(at: [place: 1001])])
        #expect(see(.offsets([place: 0])) == [.restart(topic: "t")])
        #expect(see(.offsets([place: 5])) == [])
        #expect(see(.topicID(nil)) == [.askOffsets(at: [place: 2001])])
        #expect(see(.offsets([place: -1])) == [])
        #expect(see(.released) == [] && see(.topicID(nil)) == [])

        #expect(see(record(1, nil)) == [.notify(.producerTimes(topic: "t"))])
        #expect(see(record(2, nil)) == [])
    }
}
