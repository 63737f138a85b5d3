// SPDX-License-Identifier: Apache-2.0

import Logs
import TestSupport
import Testing
import Verification

@testable import Courier
@testable import KafkaClient

@Suite struct TopicFaultsTests {
    private static let refusal = KafkaError(.notEnoughReplicas).at(topic: "deliveries", partition: 2)

    @Test func `a topic that takes nothing is told once with its cause, until it takes a record`() throws {
        let log = LogRecord()
        let faults = TopicFaults(logger: log.logger)
        faults.cannotPublish(KafkaError(.transport), to: "deliveries")
        #expect(faults.all().isEmpty, "brokers that are away are no topic's fault")
        faults.cannotPublish(Self.refusal, to: "deliveries")
        faults.cannotPublish(Self.refusal, to: "deliveries")
        #expect(faults.all().map(\.sentence) == ["cannot publish to deliveries, partition 2 (too few in sync)"])
        faults.published(to: "dead-letters", 2)
        faults.published(to: "deliveries", 1)
        #expect(faults.all().count == 1, "another partition's success ends nothing")
        faults.published(to: "deliveries", 2)
        faults.published(to: "deliveries", 2)
        #expect(faults.all().isEmpty)
        let line = try #require(log.lines(.publishRefused).first)
        #expect(log.lines(.publishRefused).count == 1)
        #expect(line.fields["topic"] == "deliveries" && line.fields["partition"] == 2)
        #expect(line.fields["reason"] == "too_few_in_sync")
        #expect(line.fields["error"] == "KafkaError(NOT_ENOUGH_REPLICAS)")
        #expect(log.lines(.publishRecovered).map { $0.fields["topic"] } == ["deliveries"])
    }

    @Test func `reading and writing are told apart`() {
        let faults = TopicFaults()
        faults.cannotPublish(Self.refusal, to: "t")
        faults.cannotRead(KafkaError(.topicAuthorizationFailed), "t", .requests)
        #expect(
            faults.all().map(\.sentence) == [
                "cannot publish to t, partition 2 (too few in sync)", "cannot read t (not authorized)",
            ]
        )
        faults.readsAgain("t", .requests)
        #expect(faults.all().map(\.use) == [.publish])
    }

    @Test func `partitions are named, each until its own success, and no more than a line holds`() {
        let log = LogRecord()
        let faults = TopicFaults(logger: log.logger)
        func away(_ partition: Int32) -> KafkaError { KafkaError(.transport).at(topic: "t", partition: partition) }
        for partition in [Int32(4), 1] { faults.cannotRead(away(partition), "t", .requests) }
        #expect(faults.all().map(\.sentence) == ["cannot read t, partitions 1 4 (connection lost)"])
        faults.readsAgain(TopicPartition(topic: "t", partition: 4))
        #expect(faults.all().map(\.partitions) == [[1]])
        faults.readsAgain("t", .requests)
        #expect(faults.all().isEmpty && log.lines(LoggedEvent.Consumer.requests.readsAgain).count == 1)

        for partition in Int32(0)..<10 { faults.isStuck(away(partition), "t") }
        #expect(
            faults.all().map(\.sentence) == [
                "cannot publish to t, partitions 0 1 2 3 4 5 6 7 and 2 more (connection lost)"
            ]
        )
        #expect(log.lines(.publishRefused).count == 1)
    }

    @Test func `a fault of publishing that is not repeated for half a minute is over`() {
        let faults = TopicFaults()
        faults.isStuck(Self.refusal, "deliveries")
        #expect(faults.all(now: .now + .seconds(29)).count == 1)
        #expect(faults.all(now: .now + .seconds(31)).isEmpty)
    }

    @Test func `a shared group is told again as the catalogue says`() {
        for events in [LoggedEvent.Consumer.requests, .receipts] {
            #expect(events.groupShared.interval == GroupWatch.pause)
        }
    }
}
