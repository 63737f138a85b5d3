// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Glibc
import KafkaClient
import MockKafka
import PostgresClient
import Sandbox
import UnixSignals

/// The environment of a demonstration: broker, providers, database, worker and users.
struct DemoStage {
    private let postgresURL: String
    private let cluster: MockCluster
    private let kafka: KafkaConfiguration
    private let producer: DemoProducer
    private let sandbox: Sandbox
    private let files = DemoFiles()

    /// The default topics of a configuration.
    static let topics = (
        requests: "verification.requests", receipts: "verification.receipts", deliveries: "verification.deliveries",
        deadLetters: "verification.dead-letters"
    )

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
        kafka = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers)
        let producer = try DemoProducer(kafka)
        self.producer = producer
        sandbox = Sandbox(
            configuration: SandboxConfiguration(port: FreePort.prefer(port), hasTestRecipients: true) {
                await producer.forward($0)
            }
        )
    }

    /// Runs the worker and the scene until its end or a signal; with `staying`, until a signal.
    ///
    /// Returns nil when a signal came before the end of the scene.
    func perform(staying: Bool, until signals: UnixSignalsSequence) async throws -> DemoResult? {
        defer {
            files.remove()
            cluster.close()
        }
        return try await withThrowingTaskGroup(of: DemoResult?.self) { group in
            group.addTask {
                for await _ in signals {
                    if staying { printOutput("\nGoodbye. The worker finishes its work, then all of this is gone.") }
                    break
                }
                return nil
            }
            group.addTask {
                try await sandbox.run()
                return nil
            }
            let inbox = try await sandbox.waitUntilListening()
            let page = "http://\(inbox.host):\(inbox.port)"
            try files.write(gateway: page, mailPort: try await sandbox.waitUntilListeningForMail().port)
            let program = try WorkerProgram(settings: [
                "KAFKA_BOOTSTRAP_SERVERS": cluster.bootstrapServers, "POSTGRES_URL": postgresURL,
            ])
            let services: [@Sendable () async throws -> Void] = [
                { try await program.work(["run", "--config", files.configuration]) },
                { try await producer.run() },
                { try await DemoFleet.follow(kafka, on: sandbox) },
            ]
            for service in services {
                group.addTask {
                    try await service()
                    return nil
                }
            }
            group.addTask { try await play(program, page, staying: staying) }
            // The first task to end is the scene, a signal, or a service that failed; then the others are cancelled.
            var result: DemoResult?
            while let ended = try await group.next() {
                result = result ?? ended
                group.cancelAll()
            }
            return result
        }
    }

    private func play(_ program: WorkerProgram, _ page: String, staying: Bool) async throws -> DemoResult? {
        guard let fleet = DemoFleet(program: program, files: files, postgresURL: postgresURL) else { return nil }
        sandbox.connect(fleet)
        let scene = DemoScene(
            program: program,
            configuration: files.configuration,
            producer: producer,
            sandbox: sandbox
        )
        printOutput(
            """
            One worker is running, with PostgreSQL, a Kafka broker and simulated providers
            of SMS, e-mail and push. Messages arrive at \(page)

            """
        )
        do {
            let result = try await scene.play()
            if result != nil, staying {
                explainWhatNext(program, page)
                await sleepUntilCancelled()
            }
            await fleet.close()
            return result
        } catch {
            await fleet.close()
            throw error
        }
    }

    private func explainWhatNext(_ program: WorkerProgram, _ page: String) {
        let broker = ["--bootstrap-servers", kafka.bootstrapServers]
        let commands = [
            ["events", "tail", "--from-beginning"], ["request", "send", "--phone", "+16502530000"],
        ].map { DemoText.command($0 + broker, program: program.name, prompt: "  ") }
        printOutput(
            """

            Your turn. Send a code to a number or an address of your choice:
              \(page)/#requests
            Use its code, open its link or answer its push with the button beside it.
            The same in a second terminal, from this folder:
            \(commands.joined(separator: "\n"))
            Ctrl-C ends the demo.
            """
        )
    }
}

private func sleepUntilCancelled() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
}

/// Finds free ports of 127.0.0.1.
private enum FreePort {
    /// Returns the port if it is free, else 0, for which the system selects one.
    static func prefer(_ port: Int) -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var reuse: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(clamping: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isFree = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        return isFree ? port : 0
    }
}
