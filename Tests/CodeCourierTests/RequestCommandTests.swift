// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KafkaClient
import MockKafka
import Testing

@testable import CodeCourier

@Suite("request send", .timeLimit(.minutes(1))) struct RequestCommandTests {
    private let cluster: MockCluster

    init() throws {
        cluster = try MockCluster(brokers: 1)
        let topics = KafkaSettings.Topics()
        for topic in [topics.requests, topics.deliveries] { try cluster.createTopic(topic, partitions: 1) }
    }

    private func send(wait: Int) async throws {
        let words = ["--phone", "+16502530000", "--wait", "\(wait)", "--bootstrap-servers", cluster.bootstrapServers]
        try await RequestCommand.Send.parse(words).run()
    }

    @Test func `it tells by its exit code that no event came, where it waited for one`() async throws {
        await #expect(throws: ExitCode(1)) { try await send(wait: 1) }
        try await send(wait: 0)
    }
}
