// SPDX-License-Identifier: Apache-2.0

import KafkaTools
import MockKafka
import Testing

@testable import KafkaClient

/// Tests the mapping of error codes and messages of librdkafka 2.0 to 2.16 to fixed reasons.
@Suite struct ReasonTests {
    @Test(arguments: [
        (
            "127.0.0.1:9/bootstrap: Connect to ipv4#127.0.0.1:9 failed: Connection refused (after 0ms in state CONNECT)",
            KafkaError.Code.transport, KafkaError.Reason.connectionRefused, "127.0.0.1:9"
        ),
        (
            "GroupCoordinator: kafka-1.example:9092: Connect to ipv4#10.0.0.1:9092 failed: No route to host (after 3ms)",
            .transport, .networkUnreachable, "kafka-1.example:9092"
        ),
        ("[::1]:9092/3: Connection setup timed out in state CONNECT", .transport, .timedOut, "[::1]:9092"),
        ("a:1/1: Disconnected (after 3 ms in state UP)", .transport, .connectionLost, "a:1"),
        (
            "a:1/bootstrap: Disconnected while requesting ApiVersion: might be caused by incorrect security.protocol "
                + "configuration (connecting to a SSL listener?) or broker version is < 0.10", .transport,
            .protocolMismatch, "a:1"
        ),
        (
            "a:1/bootstrap: Receive failed: Invalid response size 352518912 (0..100000000): increase receive.message",
            .badMessage, .protocolMismatch, "a:1"
        ),
        (
            "ssl://a:1/bootstrap: SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener?",
            .transport, .protocolMismatch, "a:1"
        ),
        (
            "ssl://a:1/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: broker "
                + "certificate could not be verified", .ssl, .certificateUntrusted, "a:1"
        ),
        (
            "sasl_ssl://a:1/1: SASL SCRAM-SHA-512 mechanism handshake failed: Broker: Unsupported SASL mechanism",
            .authentication, .mechanismUnsupported, "a:1"
        ),
        (
            "sasl_ssl://a:1/1: SASL authentication error: Authentication failed for user canary", .authentication,
            .authenticationFailed, "a:1"
        ),
        ("a:1/bootstrap: Failed to resolve 'a:1': Name or service not known", .resolve, .nameUnresolved, "a:1"),
    ])
    func `a text gives a broker and a word, and nothing else`(
        text: String,
        code: KafkaError.Code,
        reason: KafkaError.Reason,
        broker: String
    ) {
        let error = KafkaError(code).explained(by: text)
        #expect((error.reason, error.broker) == (reason, broker))
        #expect(!"\(error)".contains("canary"))
    }

    @Test(arguments: [
        "3/3 brokers are down", "canary secret:77777: x", "canary: secret:1: x", "a b:1/1: x", ":1/1: x", "a:0/1: x",
        "a:1;drop/1: x", "", ": ", "a::1/1: Connect", "Connection refused:1/1: x",
    ])
    func `what is no address is no broker`(text: String) {
        #expect(KafkaError(.transport).explained(by: text).broker == nil)
    }

    @Test func `words come from codes that speak for themselves, whatever a text says`() {
        let codes: [(KafkaError.Code, KafkaError.Reason)] = [
            (.topicAuthorizationFailed, .notAuthorized), (.unknownTopicOrPartition, .topicMissing),
            (.notEnoughReplicas, .tooFewInSync), (.messageTooLarge, .messageTooLarge), (.storageError, .storageError),
            (.leaderNotAvailable, .leaderMissing),
        ]
        for (code, reason) in codes {
            #expect(KafkaError(code).reason == reason)
            #expect(KafkaError(code).explained(by: "a:1/1: Connection refused").reason == reason)
        }
        #expect(KafkaError(.init(rawValue: 12_345)).reason == .other)
    }

    @Test(
        arguments: [
            (9, KafkaError.Reason.certificateNotYetValid), (10, .certificateExpired), (18, .certificateUntrusted),
            (20, .certificateUntrusted), (23, .certificateRevoked), (62, .hostNameMismatch), (64, .hostNameMismatch),
        ] as [(Int32, KafkaError.Reason)]
    )
    func `OpenSSL's verdict is what a refused certificate is told by`(verdict: Int32, reason: KafkaError.Reason) {
        let broker = "verdict-\(verdict):9093"
        CertificateFaults.note(verdict, at: broker)
        let text = "ssl://\(broker)/1: SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: x"
        #expect(KafkaError(.ssl).explained(by: text).reason == reason)
    }

    @Test func `what timed out has the cause of the connection, and what failed by itself its own`() {
        let refused = KafkaError(.transport).explained(by: "a:1/1: Connect to x failed: Connection refused")
        let late = KafkaError(.messageTimedOut).explained(by: refused)
        #expect((late.code, late.reason, late.broker) == (.messageTimedOut, .connectionRefused, "a:1"))
        #expect(KafkaError(.messageTooLarge).explained(by: refused).reason == .messageTooLarge)
        #expect(KafkaError(.messageTimedOut).explained(by: nil).reason == .timedOut)
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            ("127.0.0.1:1", KafkaError.Reason.connectionRefused), ("no-such-host.invalid:9092", .nameUnresolved),
        ]
    )
    func `a cluster that is not there is told by its address and its cause`(
        servers: String,
        reason: KafkaError.Reason
    ) async throws {
        let configuration = KafkaConfiguration(bootstrapServers: servers)
        let asked = await #expect(throws: KafkaError.self) {
            _ = try await KafkaAdmin.partitionCount(of: "t", configuration: configuration, within: .seconds(5))
        }
        let read = await #expect(throws: KafkaError.self) {
            _ = try await TopicReader.open(configuration: configuration, topic: "t", from: .end, within: .seconds(5))
        }
        let broker = TestBroker(servers: servers)
        let written = try await broker.withProducer(["delivery.timeout.ms": "8000"]) { producer in
            await producer.send([ProducerRecord(topic: "t", key: nil, value: [1])]).first?.failure
        }
        for error in [asked, read, written] {
            #expect(error?.reason == reason)
            #expect(error?.broker == servers)
        }
    }

    @Test(.timeLimit(.minutes(2))) func `a topic that takes nothing is told by why, long before records are given up`()
        async throws
    {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        try broker.mock?.setLeader(of: topic, 0, to: nil)
        let start = ContinuousClock.now
        try await broker.withProducer(["delivery.timeout.ms": "40000"]) { producer in
            async let result = producer.send([ProducerRecord(topic: topic, key: nil, value: [1])])
            for await case .stuck(let error) in producer.notices {
                #expect((error.reason, error.topic, error.partition) == (.leaderMissing, topic, 0))
                break
            }
            #expect(ContinuousClock.now - start < .seconds(35))
            let failure = await result.first?.failure
            #expect((failure?.reason, failure?.topic) == (.leaderMissing, topic))
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a consumer that reaches no broker says which one and why`() async throws {
        let configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
        let consumer = try KafkaConsumer(configuration: configuration, groupID: "g", topics: ["t"])
        async let running: Void = consumer.run()
        try await consumer.waitForNotice {
            guard case .brokersUnreachable(let error) = $0 else { return false }
            #expect(error?.reason == .connectionRefused)
            #expect(error?.broker == "127.0.0.1:1")
            return true
        }
        await consumer.close()
        try await running
    }
}
