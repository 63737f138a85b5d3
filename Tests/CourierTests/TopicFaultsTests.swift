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
        #expect(faults.all.isEmpty, "brokers that are away are no topic's fault")
        faults.cannotPublish(Self.refusal, to: "deliveries")
        faults.cannotPublish(Self.refusal, to: "deliveries")
        #expect(faults.all.map(\.sentence) == ["cannot publish to deliveries (too few in sync)"])
        faults.published(to: "dead-letters")
        #expect(faults.all.count == 1, "another topic's success ends nothing")
        faults.published(to: "deliveries")
        faults.published(to: "deliveries")
        #expect(faults.all.isEmpty)
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
            faults.all.map(\.sentence) == ["cannot publish to t (too few in sync)", "cannot read t (not authorized)"]
        )
        faults.readsAgain("t", .requests)
        #expect(faults.all.map(\.use) == [.publish])
    }

    @Test func `a shared group is told again as the catalogue says`() {
        for events in [LoggedEvent.Consumer.requests, .receipts] {
            #expect(events.groupShared.interval == GroupWatch.pause)
        }
    }
}
