// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Foundation
import KafkaClient
import MockKafka
import PostgresClient
import Sandbox
import UnixSignals

/// The environment of a demonstration: broker, provider, database, worker and users.
struct DemoStage {
    private let postgresURL: String
    private let cluster: MockCluster
    private let sandbox: Sandbox

    /// The default topics of a configuration.
    static let topics = (
        requests: "verification.requests", receipts: "verification.receipts", deliveries: "verification.deliveries",
        deadLetters: "verification.dead-letters"
    )

    private static let policy = """
        version: "demo.1"
        tenants:
          default:
            appName: Acme
            regions: { allowlistOnly: { allowedRegions: [US, GB, DE] } }
            routes: { default: [sandbox] }
        """

    init(postgresURL: String, port: Int) async throws {
        self.postgresURL = postgresURL
        let database = PostgresConfiguration(url: postgresURL, applicationName: "code-courier demo")
        let pool = PostgresPool(database, size: 1)
        // Refuse the database of a real fleet, even for a migration. If this query fails, the migration reports why.
        let hasRows = (try? await Migrator(pool: pool).hasRows()) ?? false
        await pool.close()
        guard !hasRows else {
            printError(
                "code-courier: --postgres-url: the database holds requests; name an empty one, such as createdb makes"
            )
            throw ExitCode(2)
        }
        let migration = try await WorkerProgram(settings: [:]).run(["migrate", "--postgres-url", postgresURL])
        guard migration.code == 0 else { throw ExitCode(migration.code) }
        cluster = try MockCluster(brokers: 1)
        for topic in [Self.topics.requests, Self.topics.receipts, Self.topics.deliveries, Self.topics.deadLetters] {
            try cluster.createTopic(topic, partitions: 3)
        }
        sandbox = Sandbox(configuration: SandboxConfiguration(port: FreePort.prefer(port)))
    }

    /// Runs the worker and the scene until its end or a signal; with `staying`, until a signal.
    func perform(staying: Bool, until signals: UnixSignalsSequence) async throws -> DemoResult {
        let folder = FileManager.default.temporaryDirectory.appending(path: "code-courier-demo-\(UUID().uuidString)")
        defer {
            try? FileManager.default.removeItem(at: folder)
            cluster.close()
        }
        return try await withThrowingTaskGroup(of: DemoResult?.self) { group in
            group.addTask {
                for await _ in signals { break }
                return nil
            }
            group.addTask {
                try await sandbox.run()
                return nil
            }
            let inbox = try await sandbox.waitUntilListening()
            let page = "http://\(inbox.host):\(inbox.port)"
            try write(to: folder)
            let configuration = folder.appending(path: "courier.yaml").path
            let program = try WorkerProgram(settings: settings(provider: page))
            group.addTask {
                try await program.work(["run", "--config", configuration])
                return nil
            }
            group.addTask {
                let scene = DemoScene(
                    program: program,
                    configuration: configuration,
                    kafka: KafkaConfiguration(bootstrapServers: cluster.bootstrapServers),
                    sandbox: sandbox,
                    inbox: page
                )
                let result = try await scene.play()
                guard let result, staying else { return result }
                scene.explainWhatNext()
                await sleepUntilCancelled()
                return result
            }
            // The first task to end is the scene, a signal, or a worker that failed; then the others are cancelled.
            var result = DemoResult()
            while let ended = try await group.next() {
                if let ended { result = ended }
                group.cancelAll()
            }
            return result
        }
    }

    /// Writes the files of a worker, with throw-away keys, to a folder that only this user can read.
    private func write(to folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let keys = ["code", "hash", "fingerprint", "seal"].map { name in
            let bytes = (0..<32).map { _ in UInt8.random(in: 0...255) }
            return "  \(name): \"1:\(Data(bytes).base64EncodedString())\""
        }
        let configuration = """
            policy: { path: policy.yaml }
            providers:
              - { name: sandbox, kind: twilio, accountSid: ACdemo, authToken: demo, from: "+15005550006" }
            keys:
            \(keys.joined(separator: "\n"))
            log: { level: error, format: text }
            """
        try Data(Self.policy.utf8).write(to: folder.appending(path: "policy.yaml"))
        try Data(configuration.utf8).write(to: folder.appending(path: "courier.yaml"))
    }

    private func settings(provider address: String) -> [String: String] {
        [
            "KAFKA_BOOTSTRAP_SERVERS": cluster.bootstrapServers, "POSTGRES_URL": postgresURL,
            "PROVIDERS_SANDBOX_BASE_URL": address,
        ]
    }
}

private func sleepUntilCancelled() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
}
