// SPDX-License-Identifier: Apache-2.0

import Administration
import Foundation
import KafkaClient
import Logging
import Logs
import PostgresClient
import Providers
import Sandbox
import ServiceLifecycle
import UnixSignals
import Verification

/// Everything that a demonstration needs: broker, provider, database, worker, and the people in front of it.
struct DemoStage {
    private let cluster: MockCluster
    private let sandbox: Sandbox
    private let postgresURL: String
    private let keys: CodeKeys

    init(postgresURL: String, port: Int) async throws {
        self.postgresURL = postgresURL
        let configuration = PostgresConfiguration(url: postgresURL, applicationName: "code-courier demo")
        let pool = PostgresPool(configuration, size: 1)
        do {
            try await ServerCheck.run(configuration)
            let migrator = Migrator(pool: pool)
            // A fleet's own database is not so much as migrated.
            guard try await !migrator.hasRows() else { throw DatabaseInUse() }
            _ = try await migrator.migrate()
            await pool.close()
        } catch let fault as DatabaseInUse {
            await pool.close()
            throw StartFailure.report([fault])
        } catch {
            await pool.close()
            throw StartFailure.report([DatabaseFault(error, role: nil)])
        }
        cluster = try MockCluster(brokers: 1)
        let topics = KafkaSettings().topics
        for topic in [topics.requests, topics.receipts, topics.deliveries, topics.deadLetters] {
            try cluster.createTopic(topic, partitions: 3)
        }
        sandbox = Sandbox(configuration: SandboxConfiguration(port: FreePort.prefer(port)))
        keys = .throwAway()
    }

    /// Runs the worker and the scene; with `staying`, until Ctrl-C.
    func perform(staying: Bool) async throws -> DemoResult {
        try await withThrowingTaskGroup(of: DemoResult?.self) { group in
            group.addTask {
                try await sandbox.run()
                return nil
            }
            let inbox = try await sandbox.waitUntilListening()
            let address = "http://\(inbox.host):\(inbox.port)"
            let configuration = configuration(provider: address)
            let worker = try await Worker(configuration, policy: try policy(), logger: Self.logger)
            let (finished, finish) = AsyncStream.makeStream(of: Void.self)
            let signals = await UnixSignalsSequence(trapping: Worker.endingSignals)
            group.addTask {
                try await worker.run(with: [EndOfScene(signal: finished)], until: signals, logger: Self.logger)
                return nil
            }
            group.addTask {
                defer { finish.finish() }
                let scene = DemoScene(
                    settings: configuration.kafka,
                    sandbox: sandbox,
                    verifier: .init(url: postgresURL, hashKeys: keys.hash),
                    inbox: address
                )
                let result: DemoResult
                do {
                    result = try await scene.play()
                } catch _ where Task.isCancelled {
                    // Ctrl-C, or what the worker failed with, ended the scene.
                    return nil
                }
                if staying {
                    scene.explainWhatNext(bootstrapServers: cluster.bootstrapServers)
                    await sleepUntilCancelled()
                }
                return result
            }
            // The first to end is the scene, or the worker on Ctrl-C.
            var result = DemoResult()
            while let ended = try await group.next() {
                if let ended { result = ended }
                group.cancelAll()
            }
            cluster.close()
            return result
        }
    }

    private func configuration(provider address: String) -> CourierConfiguration {
        var kafka = KafkaSettings()
        kafka.bootstrapServers = cluster.bootstrapServers
        let twilio = TwilioConfiguration(
            name: "sandbox",
            baseURL: address,
            accountSid: "ACdemo",
            credentials: .init(username: "ACdemo", password: .init("demo")),
            sender: .from("+15005550006")
        )
        return CourierConfiguration(
            kafka: kafka,
            postgres: PostgresSettings(url: .init(postgresURL)),
            policyPath: "",
            providers: [ProviderSettings(name: twilio.name, kind: .twilio(twilio))],
            keys: keys,
            worker: WorkerSettings(),
            log: LogSettings()
        )
    }

    private func policy() throws -> Policy {
        try StartFailure.unwrap(PolicyFile.parse(DemoScene.policy, file: "policy.yaml", providers: ["sandbox": .sms]))
    }

    /// The worker speaks up only when something goes wrong: the scene tells the story.
    private static let logger = LogOutput(format: .text, service: WorkerLog.service).logger(level: .warning)
}

/// A database that others use, in which a demonstration must not play.
private struct DatabaseInUse: Error, CustomStringConvertible {
    let description = "--postgres-url: the database holds requests; name an empty one, such as createdb makes"
}

/// Ends the worker when the scene is over.
private struct EndOfScene: Service {
    let signal: AsyncStream<Void>

    func run() async throws {
        for await _ in signal.cancelOnGracefulShutdown() {}
    }
}

private func sleepUntilCancelled() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
}
