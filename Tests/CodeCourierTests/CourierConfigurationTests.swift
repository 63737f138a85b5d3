// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import FoundationEssentials
import Logging
import Logs
import Providers
import SettingsReading
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Configuration")
struct CourierConfigurationTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    @Test func `the documented example loads`() throws {
        let configuration = try folder.load(ExampleFiles.courier(in: folder)).get()
        #expect(configuration.kafka.bootstrapServers == "127.0.0.1:9092")
        #expect(configuration.postgres.url.revealed == "postgresql://courier_worker@127.0.0.1/courier")
        #expect(configuration.policyPath == "\(folder.path)/policy.yaml")
        #expect(configuration.providers.map(\.name) == ["main", "backup"])
        guard let twilio = configuration.providers.first?.configuration as? TwilioConfiguration else {
            Issue.record("main is no Twilio provider")
            return
        }
        #expect(twilio.baseURL == "http://127.0.0.1:8025")
        #expect(twilio.accountSid == "ACxxx")
        #expect(twilio.credentials.password.revealed == "twilio-in-file")
        #expect(twilio.sender == .from("+15005550006"))
        #expect(twilio.statusCallback == nil)
        guard let vonage = configuration.providers.last?.configuration as? VonageConfiguration,
            case .apiSecret("k", let secret) = vonage.credentials
        else {
            Issue.record("backup is no Vonage provider with a secret")
            return
        }
        #expect(vonage.name == "backup")
        #expect(vonage.baseURL == "http://127.0.0.1:8025")
        #expect(vonage.api == .sms)
        #expect(secret.revealed == "vonage-in-file")
        #expect(vonage.from == "Acme")
    }

    @Test func `a receipt may call the only provider of a kind by it`() throws {
        let text = try ExampleFiles.courier(in: folder)
        let names = try folder.load(text).get().providers.receiptSecrets
        #expect(["main", "twilio", "vonage", "sns"].map(names.name) == ["main", "main", "backup", "sns"])
        let log = "providers:\n  - { name: twilio, kind: log }\n  - { name: other, kind: log }\n"
        let others = try folder.load(text.replacing("providers:\n", with: log)).get().providers.receiptSecrets
        #expect(["twilio", "log", "vonage"].map(others.name) == ["twilio", "log", "backup"])
    }

    @Test func `a provider of an unknown kind is one fault, whatever keys it has`() throws {
        let text = try ExampleFiles.courier(in: folder).replacing("kind: vonage", with: "kind: smpp")
        let expected = "courier.yaml:7: providers[1].kind: must be twilio, vonage, sns, http, smtp, apns or log; did"
        let faults = try folder.faults(text)
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix(expected) == true)
    }

    @Test func `what is left out has its default`() throws {
        let configuration = try folder.load(ExampleFiles.smallest).get()
        #expect(configuration.kafka.bootstrapServers == "127.0.0.1:9092")
        #expect(configuration.kafka.groupID == "code-courier")
        #expect(configuration.kafka.topics.requests == "verification.requests")
        #expect(configuration.kafka.topics.receipts == "verification.receipts")
        #expect(configuration.kafka.topics.deliveries == "verification.deliveries")
        #expect(configuration.kafka.topics.deadLetters == "verification.dead-letters")
        #expect(configuration.kafka.options.isEmpty)
        #expect(configuration.worker.maxInFlight == 1024)
        #expect(configuration.worker.batchSize == 500)
        #expect(configuration.worker.maxRequestAge == .seconds(300))
        #expect(configuration.worker.unknownOutcome == .hold)
        #expect(configuration.worker.drainTimeout == .seconds(25))
        #expect(configuration.log == LogSettings(level: .info, format: nil))
    }

    @Test func `every key that is given counts`() throws {
        let text = """
            kafka:
              bootstrapServers: a:1,b:2
              groupId: other
              options: { security.protocol: SASL_SSL, session.timeout.ms: 6000, sasl.password: pw }
              topics: { requests: r, receipts: c, deliveries: d, deadLetters: l }
            postgres: { url: "postgresql://h1,h2/a", retention: 48h }
            policy: { path: /etc/policy.yaml }
            providers:
              - { name: a, kind: twilio, accountSid: AC1, authToken: t, messagingServiceSid: MG1, statusCallback: "https://x.example/cb/" }
              - { name: b, kind: log }
            worker: { cell: 255, maxInFlight: 7, batchSize: 8, maxRequestAge: 90s, unknownOutcome: resend_once, drainTimeout: 500ms }
            log: { level: debug, format: otel, statsInterval: 1m }
            """
        let configuration = try folder.load(text).get()
        #expect(configuration.kafka.bootstrapServers == "a:1,b:2")
        #expect(configuration.kafka.groupID == "other")
        let options = configuration.kafka.options.mapValues(\.revealed)
        #expect(
            options == ["security.protocol": "SASL_SSL", "session.timeout.ms": "6000", "sasl.password": "pw"]
        )
        let topics = configuration.kafka.topics
        #expect([topics.requests, topics.receipts, topics.deliveries, topics.deadLetters] == ["r", "c", "d", "l"])
        #expect(configuration.postgres.url.revealed == "postgresql://h1,h2/a")
        #expect(configuration.worker.retention == .seconds(172_800))
        #expect(configuration.policyPath == "/etc/policy.yaml")
        #expect(configuration.providers.map(\.name) == ["a", "b"])
        var worker = WorkerSettings()
        worker.cell = 255
        worker.maxInFlight = 7
        worker.batchSize = 8
        worker.maxRequestAge = .seconds(90)
        worker.unknownOutcome = .resendOnce
        worker.retention = .seconds(172_800)
        worker.drainTimeout = .milliseconds(500)
        #expect(configuration.worker == worker)
        #expect(configuration.log == LogSettings(level: .debug, format: .otel, statsInterval: .seconds(60)))
        guard let twilio = configuration.providers.first?.configuration as? TwilioConfiguration else {
            Issue.record("a is no Twilio provider")
            return
        }
        #expect(twilio.sender == .messagingService(sid: "MG1"))
        #expect(twilio.baseURL == TwilioConfiguration.defaultBaseURL)
        #expect(twilio.statusCallback == "https://x.example/cb")
    }

    @Test func `the first key of a ring is the active one, the others serve too`() throws {
        var environment = ExampleFiles.keys
        let first = ExampleFiles.ring(32_767, filledWith: 9)
        environment["KEYS_CODE"] = "\(first),\(ExampleFiles.ring(1, filledWith: 8, count: 64))"
        let keys = try folder.load(ExampleFiles.smallest, environment: environment).get().keys
        #expect(keys.code.activeID == KeyID(32_767))
        #expect(keys.code[KeyID(1)] != nil)
        #expect(keys.hash.activeID == KeyID(1))
    }

    @Test func `without a file only the providers are missing`() {
        var environment = ExampleFiles.keys
        environment["POSTGRES_URL"] = "postgresql:///courier"
        environment["POLICY_PATH"] = "policy.yaml"
        let result = CourierConfiguration.load(path: nil, environment: environment)
        guard case .failure(let faults) = result else {
            Issue.record("a courier without providers was accepted")
            return
        }
        #expect(faults.description.hasPrefix("environment: providers: is required"))
        #expect(faults.faults.count == 1)
    }

    @Test func `a command reads only the section it needs`() throws {
        let path = try folder.write("postgres: { url: \"postgresql:///courier\" }", to: "courier.yaml")
        let settings = try CourierConfiguration.load(path: path, environment: [:], PostgresSettings.read).get()
        #expect(settings.url.revealed == "postgresql:///courier")
        let hash = ["KEYS_HASH": ExampleFiles.ring(7, filledWith: 2)]
        let ring = try CourierConfiguration.load(path: path, environment: hash, KeySettings.readHash).get()
        #expect(ring.activeID == KeyID(7))
        let group = ["KAFKA_GROUP_ID": "g"]
        let kafka = try CourierConfiguration.load(path: path, environment: group, KafkaSettings.read).get()
        #expect(kafka.groupID == "g")
    }

    @Test func `run --check tells whether a worker would take configuration, secrets and policy`() async throws {
        let policy = try folder.write(ExampleFiles.policy.replacing("main, backup", with: "main"), to: "policy.yaml")
        for (variable, ring) in ExampleFiles.keys { _ = try folder.write(ring, to: variable) }
        let keys = ["code", "hash", "fingerprint", "seal"].map { "\($0)File: KEYS_\($0.uppercased())" }
        let text = ExampleFiles.smallest + "\nkeys: { \(keys.joined(separator: ", ")) }"
        let path = try folder.write(text, to: "courier.yaml")
        let command = try RunCommand.parse(["--config", path, "--check"])
        try await command.run()

        _ = try folder.write(ExampleFiles.policy, to: "policy.yaml")
        await #expect(throws: ExitCode(2)) { try await command.run() }
        try FileManager.default.removeItem(atPath: policy)
        await #expect(throws: ExitCode(2)) { try await command.run() }
        _ = try folder.write("1:faulty", to: "KEYS_CODE")
        await #expect(throws: ExitCode(2)) { try await command.run() }
    }

    @Test func `nothing secret is in what a configuration prints`() throws {
        let text = """
            kafka: { options: { sasl.password: hidden-1 } }
            postgres: { url: "postgresql://u:hidden-2@h/d" }
            policy: { path: p }
            providers: [{ name: a, kind: twilio, accountSid: AC1, authToken: hidden-3, from: "+15005550006" }]
            """
        let configuration = try folder.load(text).get()
        var printed = "\(configuration) \(String(reflecting: configuration))"
        dump(configuration, to: &printed)
        #expect(!printed.contains("hidden-"))
        for ring in ExampleFiles.keys.values {
            #expect(!printed.contains(ring.dropFirst(2)))
        }
    }
}
