// SPDX-License-Identifier: Apache-2.0

import Glibc
import KafkaClient
import PostgresClient
package import Sandbox
import Synchronization
package import TestSupport
package import TestTools

/// Workers in separate processes, with their environment: Kafka, PostgreSQL, a provider and a verifier.
package final class TestFleet: Sendable {
    package let cluster: TestCluster
    package let topics: TestTopics
    package let database: LedgerDatabase
    package let logins: TestLogins
    package let sandbox: Sandbox
    package let folder: ScratchFolder
    let producer: KafkaProducer
    let deliveries: TopicLog<Event>
    let deadLetterLog: TopicLog<ConsumerRecord>
    let sentLog: SentLog
    let verifierPool: PostgresPool
    let state = Mutex(State())

    struct State {
        var started = 0
        var workers: [Worker] = []
        var programs: [Program] = []
        var numbers: Set<String> = []
    }

    package static let recordFile = "messages.jsonl"
    package static let configurationFile = "courier.yaml"
    package static let policyFile = "policy.yaml"

    private init(
        _ cluster: TestCluster,
        _ topics: TestTopics,
        _ database: LedgerDatabase,
        _ logins: TestLogins,
        _ sandbox: Sandbox,
        _ folder: ScratchFolder
    ) async throws {
        (self.cluster, self.topics, self.database) = (cluster, topics, database)
        (self.logins, self.sandbox, self.folder) = (logins, sandbox, folder)
        // The long timeout outlasts the tests' broker outages: a record that timed out may still have been written.
        producer = try KafkaProducer(
            configuration: KafkaConfiguration(
                bootstrapServers: cluster.bootstrapServers,
                options: ["delivery.timeout.ms": "120000"]
            )
        )
        deliveries = try await TopicLog(topics.deliveries, cluster, parse: Event.init)
        deadLetterLog = try await TopicLog(topics.deadLetters, cluster) { $0 }
        sentLog = SentLog(path: folder[Self.recordFile])
        verifierPool = PostgresPool(
            PostgresConfiguration(url: logins.verifierURL, applicationName: "verifier"),
            size: 2
        )
    }

    /// Provides a fleet without workers, and stops it afterwards.
    ///
    /// After a successful body the workers are stopped, and no log and no event may contain a number or a code.
    ///
    /// The group reassigns a dead worker's partitions after `sessionTimeout`. With `isInspected` the fleet checks its
    /// workers' output itself; otherwise the caller must.
    package static func with(
        partitions: Int = 3,
        brokers: Int = 1,
        needsMock: Bool = false,
        deliveriesHaveReplicas: Bool = true,
        policy: String = TestPolicy.standard,
        sessionTimeout: Duration = .seconds(6),
        isInspected: Bool = true,
        _ body: (TestFleet) async throws -> Void
    ) async throws {
        try await LedgerDatabase.with { database in
            try await TestLogins.with(database) { logins in
                let cluster = try TestCluster(brokers: brokers, needsMock: needsMock)
                defer { cluster.close() }
                let topics = TestTopics(uniqueName("courier-test-"))
                for topic in [topics.requests, topics.receipts, topics.deliveries, topics.deadLetters] {
                    let hasReplicas = topic != topics.deliveries || deliveriesHaveReplicas
                    try await cluster.makeTopic(topic, partitions: partitions, hasReplicas: hasReplicas)
                }
                let folder = try ScratchFolder()
                let sandbox = Sandbox(configuration: .init(port: 0, recordFile: folder[recordFile]))
                let fleet = try await TestFleet(cluster, topics, database, logins, sandbox, folder)
                try await fleet.serve(policy, sessionTimeout) {
                    try await body(fleet)
                    if isInspected { try await fleet.finish() }
                }
            }
        }
    }

    private func serve(
        _ policy: String,
        _ sessionTimeout: Duration,
        _ body: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [sandbox] in try await sandbox.run() }
            group.addTask { [producer] in try await producer.run() }
            let outcome: Result<Void, any Error>
            do {
                let provider = try await sandbox.waitUntilListening()
                try folder.write(policy, to: Self.policyFile)
                try folder.write(
                    configuration(provider: provider, sessionTimeout: sessionTimeout),
                    to: Self.configurationFile
                )
                try await body()
                outcome = .success(())
            } catch {
                outcome = .failure(error)
            }
            for worker in workers { worker.program.send(SIGKILL) }
            for worker in workers { _ = try? await worker.program.exit() }
            if case .failure = outcome { report() }
            await producer.close(within: .seconds(2))
            await deliveries.close()
            await deadLetterLog.close()
            await verifierPool.close()
            group.cancelAll()
            try outcome.get()
        }
    }

    private func report() {
        for worker in workers {
            print("--- log of a worker\n\(worker.program.output.suffix(4000))\(worker.program.errors.suffix(2000))")
        }
    }
}
