// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KafkaClient
package import Ledger
import PostgresClient
package import Sandbox
import Synchronization
package import TestSupport
import Testing
import Verification

/// Workers in processes of their own, and all that stands around them: Kafka, PostgreSQL, a provider, a verifier.
package final class TestFleet: Sendable {
    package let cluster: TestCluster
    package let topics: TestTopics
    package let database: LedgerDatabase
    package let logins: TestLogins
    package let sandbox: Sandbox
    package let folder: ScratchFolder
    private let producer: KafkaProducer
    private let deliveries: TopicLog<Event>
    private let deadLetterLog: TopicLog<ConsumerRecord>
    private let sentLog: SentLog
    private let verifierPool: PostgresPool
    private let state = Mutex(State())

    private struct State {
        var started = 0
        var workers: [Worker] = []
        var programs: [Program] = []
        var numbers: Set<String> = []
    }

    /// The files of a fleet.
    package static let recordFile = "messages.jsonl"
    package static let configurationFile = "courier.yaml"
    package static let policyFile = "policy.yaml"

    fileprivate init(
        _ cluster: TestCluster,
        _ topics: TestTopics,
        _ database: LedgerDatabase,
        _ logins: TestLogins,
        _ sandbox: Sandbox,
        _ folder: ScratchFolder
    ) async throws {
        (self.cluster, self.topics, self.database) = (cluster, topics, database)
        (self.logins, self.sandbox, self.folder) = (logins, sandbox, folder)
        producer = try KafkaProducer(configuration: cluster.configuration)
        deliveries = try await TopicLog(topics.deliveries, cluster, parse: Event.init)
        deadLetterLog = try await TopicLog(topics.deadLetters, cluster) { $0 }
        sentLog = SentLog(path: folder[Self.recordFile])
        verifierPool = PostgresPool(
            PostgresConfiguration(url: logins.verifierURL, applicationName: "verifier"),
            size: 2
        )
    }

    /// Lends a fleet without workers, and takes it down afterwards.
    ///
    /// A fleet that did its work is told to stop, and no log and no event may then show a number or a code.
    ///
    /// After `sessionTimeout` the group gives the partitions of a dead worker to others. A fleet that `isInspected` looks
    /// itself through what its workers have said, as it should unless the caller does.
    package static func with(
        partitions: Int = 3,
        brokers: Int = 1,
        policy: String = TestPolicy.standard,
        sessionTimeout: Duration = .seconds(6),
        isInspected: Bool = true,
        _ body: (TestFleet) async throws -> Void
    ) async throws {
        try await LedgerDatabase.with { database in
            try await TestLogins.with(database) { logins in
                let cluster = try TestCluster(brokers: brokers)
                defer { cluster.close() }
                let topics = TestTopics(uniqueName("courier-test-"))
                for topic in [topics.requests, topics.receipts, topics.deliveries, topics.deadLetters] {
                    try await cluster.makeTopic(topic, partitions: partitions)
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

    private func configuration(provider: (host: String, port: Int), sessionTimeout: Duration) -> String {
        """
        kafka:
          bootstrapServers: "\(cluster.bootstrapServers)"
          groupId: \(topics.requests).group
          topics:
            requests: \(topics.requests)
            receipts: \(topics.receipts)
            deliveries: \(topics.deliveries)
            deadLetters: \(topics.deadLetters)
          options: { session.timeout.ms: \(sessionTimeout.microseconds / 1000), heartbeat.interval.ms: 250 }
        postgres: { url: "\(logins.workerURL)" }
        policy: { path: \(Self.policyFile) }
        providers:
          - name: main
            kind: twilio
            baseURL: "http://\(provider.host):\(provider.port)"
            accountSid: ACtest
            authToken: test-token
            from: "+15005550006"
        keys:
          code: "\(TestKeys.code)"
          hash: "\(TestKeys.hash)"
          fingerprint: "\(TestKeys.fingerprint)"
          seal: "\(TestKeys.seal)"
        """
    }

    private func report() {
        for worker in workers {
            print("--- log of a worker\n\(worker.program.output.suffix(4000))\(worker.program.errors.suffix(2000))")
        }
    }
}

// MARK: - Workers

extension TestFleet {
    package var workers: [Worker] { state.withLock(\.workers) }

    /// Starts a worker and waits until it has its partitions.
    ///
    /// Settings of the environment win over those of the file.
    package func startWorker(_ environment: [String: String] = [:], waiting: Bool = true) async throws -> Worker {
        let worker = try launchWorker(environment)
        try await worker.waitForLog(waiting ? "kafka.assigned" : "worker.started")
        return worker
    }

    /// Starts a worker, whatever the format of its log, and waits for nothing.
    package func launchWorker(_ environment: [String: String]) throws -> Worker {
        let number = state.withLock { state in
            state.started += 1
            return state.started
        }
        let program = try Program(
            ["run", "--config", folder[Self.configurationFile]],
            environment: environment.merging(["LOG_LEVEL": "debug"]) { given, _ in given },
            folder: folder,
            name: "worker-\(number)"
        )
        let worker = Worker(program: program)
        state.withLock { state in
            state.workers.append(worker)
            state.programs.append(program)
        }
        return worker
    }

    /// Runs a command of the program to its end.
    package func command(
        _ arguments: [String],
        environment: [String: String] = [:],
        within limit: Duration = .seconds(60)
    ) async throws -> (Program, Program.Exit) {
        let program = try Program(arguments, environment: environment, folder: folder)
        state.withLock { $0.programs.append(program) }
        return (program, try await program.exit(within: limit))
    }
}

// MARK: - Kafka

extension TestFleet {
    /// Changes the configuration of the workers to come.
    package func configure(_ text: String, _ replacement: String) throws {
        let file = folder.text(of: Self.configurationFile)
        try folder.write(file.replacingOccurrences(of: text, with: replacement), to: Self.configurationFile)
    }

    /// Gives the workers to come an option of librdkafka, which no environment variable can.
    package func setKafkaOption(_ name: String, _ value: String) throws {
        let options = "options: {"
        try configure(options, "\(options) \(name): \(value),")
    }

    /// What a group has committed of a topic, by partition; the workers' of the requests' topic if none is named.
    package func committedOffsets(of topic: String? = nil, by group: String? = nil) async throws -> [Int32: Int64] {
        let topic = topic ?? topics.requests
        let partitions = try await KafkaAdmin.partitionCount(of: topic, configuration: cluster.configuration)
        return try await KafkaAdmin.committedOffsets(
            of: group ?? "\(topic).group",
            topic: topic,
            partitions: partitions,
            configuration: cluster.configuration
        )
    }

    /// Puts records on a topic, the requests' if none is named, in their order, and says where they are.
    @discardableResult
    package func send(
        _ records: [TestRecord],
        to topic: String? = nil
    ) async throws -> [(partition: Int32, offset: Int64)] {
        let results = await producer.send(
            records.map {
                ProducerRecord(
                    topic: topic ?? $0.topic ?? topics.requests,
                    key: $0.keyBytes ?? $0.key.map { Array($0.utf8) },
                    value: $0.value,
                    headers: $0.headers,
                    partition: $0.partition
                )
            }
        )
        return try results.map { result in
            switch result {
            case .delivered(let partition, let offset): (partition, offset)
            case .failed(let error): throw error
            }
        }
    }

    package func send(_ requests: TestRequest...) async throws {
        try await send(requests)
    }

    package func send(_ requests: [TestRequest]) async throws {
        watch(requests.map(\.phoneNumber))
        try await send(requests.map(\.binary))
    }

    /// Adds numbers that no log and no event may show.
    package func watch(_ numbers: [String]) {
        state.withLock { $0.numbers.formUnion(numbers) }
    }

    /// The events, once there are so many for each of the requests; other requests' are left out.
    package func events(
        of requests: [String],
        each count: Int = 1,
        within limit: Duration = .seconds(30)
    ) async throws -> [Event] {
        let wanted = Set(requests)
        var found: [String: Set<String>] = [:]
        var seen = 0
        let events = try await deliveries.read(
            until: { events in
                for event in events[seen...] where wanted.contains(event.body.requestId) {
                    found[event.body.requestId, default: []].insert(event.id)
                }
                seen = events.count
                return found.count == wanted.count && found.values.allSatisfy { $0.count >= count }
            },
            or:
                "\(count) events for \(wanted.count) requests; there are \(found.count) with \(found.values.map(\.count).min() ?? 0) or more",
            within: limit
        )
        return events.filter { wanted.contains($0.body.requestId) }
    }

    /// The one event of a request.
    package func event(of request: TestRequest, within limit: Duration = .seconds(30)) async throws -> Event {
        let events = try await events(of: [request.id], within: limit)
        #expect(events.count == 1, "\(events.map(\.answer))")
        return try #require(events.first)
    }

    /// Every event that has come, and whatever comes within a time from now.
    package func allEvents(after time: Duration = .seconds(1)) async throws -> [Event] {
        try await deliveries.drain(for: time)
    }

    /// The dead letters, once there are so many.
    package func deadLetters(_ count: Int, within limit: Duration = .seconds(30)) async throws -> [ConsumerRecord] {
        try await deadLetterLog.read(until: { $0.count >= count }, or: "\(count) dead letters", within: limit)
    }

    /// Every dead letter that has come, and whatever comes within a time from now.
    package func allDeadLetters(after time: Duration) async throws -> [ConsumerRecord] {
        try await deadLetterLog.drain(for: time)
    }
}

// MARK: - The provider and the verifier

extension TestFleet {
    /// Every complete request that the provider got, also those whose answer was lost.
    package var sent: [SentMessage] { sentLog.messages }

    /// The messages that the provider took, by number.
    package var messages: [String: [SentMessage]] {
        Dictionary(grouping: sent.filter(\.accepted), by: \.to)
    }

    /// Checks a code, as a verifier service does.
    ///
    /// The fingerprint is that of the address that the person gives with an e-mail's link.
    package func check(
        _ code: String,
        _ event: Event,
        fingerprint: [UInt8]? = nil
    ) async throws -> Verifier.Answer.Status {
        let verification = try #require(event.verification)
        let purpose = try #require(event.body.purpose.flatMap { Purpose(rawValue: $0) })
        return try await Verifier(pool: verifierPool, hashKeys: CodeKeys.test.hash)
            .check(
                verification,
                tenant: event.body.tenant,
                purpose: purpose,
                code: code,
                recipientFingerprint: fingerprint
            ).status
    }
}

// MARK: - The end

/// What a search for secrets has gone through and found.
package struct SecretSearch: Sendable {
    package var bytes = 0
    package var shown: [String] = []
}

extension TestFleet {
    /// Stops the workers and looks through everything that they have said.
    private func finish() async throws {
        for worker in workers where worker.program.isRunning { try await worker.stop() }
        var schema = try DeliverySchema()
        for event in try await allEvents(after: .milliseconds(200)) {
            let violations = try schema.violations(of: event.record.value ?? [])
            #expect(violations.isEmpty, "\(event.body)")
        }
        for worker in workers {
            #expect(worker.program.lines.compactMap { CatalogueCheck.flaw(in: $0) } == [])
        }
        #expect(try await searchForSecrets().shown == [])
    }

    /// Searches logs, error output, events, what dead letters add to their records, the tables, and the log of a database
    /// server of the test's own for numbers, codes and secrets.
    package func searchForSecrets() async throws -> SecretSearch {
        let secrets = Secrets(
            numbers: state.withLock(\.numbers),
            codes: Set(sent.map(\.code)),
            others: [logins.password, "test-token"] + TestKeys.all
        )
        var search = SecretSearch()
        func look(_ bytes: some Collection<UInt8>) {
            search.bytes += bytes.count
            search.shown += secrets.shown(in: bytes)
        }
        for program in state.withLock(\.programs) {
            look(program.output.utf8)
            look(program.errors.utf8)
        }
        for record in try await deliveries.drain(for: .zero).map(\.record) {
            look(record.key ?? [])
            look(record.value ?? [])
            for header in record.headers { look(header.value ?? []) }
        }
        for record in try await deadLetterLog.drain(for: .zero) {
            for header in record.headers where header.name.hasPrefix("dead-letter-") { look(header.value ?? []) }
        }
        look((PrivatePostgres.current?.log ?? "").utf8)
        for table in try await tables() {
            search.bytes += table.utf8.count
            search.shown += secrets.shown(inTable: table)
        }
        return search
    }

    /// The rows of each of the product's tables, as one text; half a million of a table are enough.
    private func tables() async throws -> [String] {
        try await database.texts(
            """
            SELECT query_to_xml(format('SELECT t::text FROM %I.%I t LIMIT 500000', n.nspname, c.relname), true, true, '')::text
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'courier' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            """
        ).compactMap { $0 }
    }
}
