// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import KafkaClient
import KafkaTools
import MockKafka
import TestSupport
import TestTools
import Testing

extension Scenarios {
    /// Tests TLS and a password for Kafka, by a proxy in front of a cluster of one broker.
    @Suite struct KafkaSecurity {
        @Test func `a worker that trusts the broker's authority does its work over TLS`() async throws {
            try await TestFleet.with(needsMock: true) { fleet in
                let authority = try await TestAuthority(in: fleet.folder)
                try await SecureKafka.with(to: fleet.cluster.bootstrapServers, authority: authority) { front in
                    try fleet.secure(by: front, trusting: authority)
                    let worker = try await fleet.startWorker()
                    let request = TestRequest(phoneNumber: Numbers.one())
                    try await fleet.send(request)
                    #expect(try await fleet.event(of: request).answer == Answer("sent"))
                    try await worker.stop()
                }
            }
        }

        @Test func `a broker of another authority is not believed, and what is said of it shows no secret`()
            async throws
        {
            try await TestFleet.with(needsMock: true) { fleet in
                let authority = try await TestAuthority(in: fleet.folder)
                let stranger = try await TestAuthority(in: fleet.folder, name: "stranger")
                try await SecureKafka.with(to: fleet.cluster.bootstrapServers, authority: stranger) { front in
                    try fleet.secure(by: front, trusting: authority)
                    try fleet.setKafkaOption("sasl.password", "canary-password")
                    let worker = try await fleet.startWorker(waiting: false)
                    try await worker.waitForLog("kafka.unreachable")
                    #expect(!worker.logged.contains("kafka.assigned"))
                    for text in [worker.program.output, worker.program.errors] { #expect(!text.contains("canary")) }
                    try await worker.stop()
                }
            }
        }

        @Test func `a password is taken from the options, and a wrong one is refused without being shown`()
            async throws
        {
            let folder = try ScratchFolder()
            let authority = try await TestAuthority(in: folder)
            let mock = try MockCluster(brokers: 1)
            defer { mock.close() }
            try mock.createTopic("topic", partitions: 3)
            let login = SecureKafka.Login(user: "courier", password: "canary-right")
            try await SecureKafka.with(to: mock.bootstrapServers, authority: authority, login: login) { front in
                func configuration(_ password: String) -> KafkaConfiguration {
                    KafkaConfiguration(
                        bootstrapServers: front.bootstrapServers,
                        options: [
                            "security.protocol": "sasl_ssl", "ssl.ca.location": authority.certificatePath,
                            "sasl.mechanism": "PLAIN", "sasl.username": "courier", "sasl.password": password,
                        ]
                    )
                }
                let right = configuration("canary-right")
                let partitions = try await KafkaAdmin.partitionCount(of: "topic", configuration: right)
                #expect(partitions == 3)
                #expect(!"\(right)".contains("canary"))
                let error = await #expect(throws: KafkaError.self) {
                    _ = try await KafkaAdmin.partitionCount(of: "topic", configuration: configuration("canary-wrong"))
                }
                #expect(!"\(String(describing: error))".contains("canary"))
            }
        }
    }
}

extension TestFleet {
    /// Makes later workers connect through a proxy, and verify its certificate.
    fileprivate func secure(by front: SecureKafka, trusting authority: TestAuthority) throws {
        try configure(cluster.bootstrapServers, front.bootstrapServers)
        try setKafkaOption("security.protocol", "ssl")
        try setKafkaOption("ssl.ca.location", "\"\(authority.certificatePath)\"")
    }
}
