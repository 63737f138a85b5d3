// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import KafkaClient
import KafkaTools
import MockKafka
import TestSupport
import TestTools
import Testing

/// Tests the reasons of TLS failures, on librdkafka's mock cluster behind a TLS proxy.
@Suite(.serialized) struct KafkaReasonTests {
    @Test func `a certificate that is refused is told by why`() async throws {
        let folder = try ScratchFolder()
        let good = try await TestAuthority(in: folder)
        let stranger = try await TestAuthority(in: folder, name: "stranger")
        let elsewhere = try await TestAuthority(in: folder, name: "elsewhere", servers: "DNS:kafka.example")
        let expired = try await TestAuthority(in: folder, name: "expired", days: -1)
        try await expect(.certificateUntrusted, from: stranger, trusting: good)
        try await expect(.hostNameMismatch, from: elsewhere, trusting: elsewhere)
        try await expect(.certificateExpired, from: expired, trusting: expired)
        try await expect(nil, from: good, trusting: good)
    }

    @Test func `a listener with TLS for one without, or the other way round, is told as far as the library tells it`()
        async throws
    {
        let folder = try ScratchFolder()
        let authority = try await TestAuthority(in: folder)
        let mock = try MockCluster(brokers: 1)
        defer { mock.close() }
        try await SecureKafka.with(to: mock.bootstrapServers, authority: authority) { front in
            let error = await failure(KafkaConfiguration(bootstrapServers: front.bootstrapServers))
            // Librdkafka 2.16 reports only a lost connection, while 2.0 guesses the cause.
            #expect([.protocolMismatch, .connectionLost].contains(error?.reason))
        }
        let configuration = KafkaConfiguration(
            bootstrapServers: mock.bootstrapServers,
            options: ["security.protocol": "ssl", "ssl.ca.location": authority.certificatePath]
        )
        let error = await failure(configuration)
        #expect([.protocolMismatch, .connectionLost, .timedOut].contains(error?.reason))
    }

    @Test func `a wrong password is told as that, with the broker and without the password`() async throws {
        let folder = try ScratchFolder()
        let authority = try await TestAuthority(in: folder)
        let mock = try MockCluster(brokers: 1)
        defer { mock.close() }
        try mock.createTopic("topic", partitions: 1)
        let login = SecureKafka.Login(user: "courier", password: "canary-right")
        try await SecureKafka.with(to: mock.bootstrapServers, authority: authority, login: login) { front in
            let configuration = KafkaConfiguration(
                bootstrapServers: front.bootstrapServers,
                options: [
                    "security.protocol": "sasl_ssl", "ssl.ca.location": authority.certificatePath,
                    "sasl.mechanism": "PLAIN", "sasl.username": "courier", "sasl.password": "canary-wrong",
                ]
            )
            let error = try #require(await failure(configuration))
            // The proxy closes the connection, as brokers of Kafka 0.10 did.
            #expect([.authenticationFailed, .connectionLost, .timedOut].contains(error.reason), "\(error.reason)")
            #expect(error.broker == front.bootstrapServers)
        }
    }

    @Test func `a command says what is away and what to check`() async throws {
        try await TestFleet.with { fleet in
            try fleet.configure(fleet.cluster.bootstrapServers, "127.0.0.1:1")
            let commands = [
                ["events", "tail"], ["dead-letters", "list"], ["request", "send", "--phone", Numbers.one()],
            ]
            for arguments in commands {
                let (program, exit) = try await fleet.command(
                    arguments + ["--config", fleet.folder[TestFleet.configurationFile]]
                )
                #expect(exit == .code(2))
                let line = "code-courier: no broker at 127.0.0.1:1 (connection refused): check kafka.bootstrapServers"
                #expect(program.errorLines.contains(line), "\(program.errors)")
            }
        }
    }

    /// Expects a client to fail for a reason, or to succeed if it is nil, at a proxy with an authority's certificate.
    private func expect(
        _ reason: KafkaError.Reason?,
        from authority: TestAuthority,
        trusting trusted: TestAuthority
    ) async throws {
        let mock = try MockCluster(brokers: 1)
        defer { mock.close() }
        try mock.createTopic("topic", partitions: 3)
        try await SecureKafka.with(to: mock.bootstrapServers, authority: authority) { front in
            let options = ["security.protocol": "ssl", "ssl.ca.location": trusted.certificatePath]
            let error = await failure(KafkaConfiguration(bootstrapServers: front.bootstrapServers, options: options))
            #expect(error?.reason == reason)
            #expect(error == nil || error?.broker == front.bootstrapServers)
        }
    }

    private func failure(_ configuration: KafkaConfiguration) async -> KafkaError? {
        do {
            _ = try await KafkaAdmin.partitionCount(of: "topic", configuration: configuration, within: .seconds(8))
            return nil
        } catch {
            return error
        }
    }
}
