// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import Logs
import Providers
import SettingsReading
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Layers of the configuration")
struct ConfigurationLayersTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private func load(_ text: String, _ variables: [String: String]) throws -> CourierConfiguration {
        try folder.load(text, environment: ExampleFiles.keys.merging(variables) { _, new in new }).get()
    }

    private func faults(_ text: String, _ variables: [String: String]) throws -> [String] {
        try folder.faults(text, environment: ExampleFiles.keys.merging(variables) { _, new in new })
    }

    @Test func `a variable wins over the file`() throws {
        let text = """
            kafka: { bootstrapServers: "file:1", groupId: file, topics: { deadLetters: file } }
            worker: { maxInFlight: 1, maxRequestAge: 1s, unknownOutcome: hold }
            log: { level: info }
            \(ExampleFiles.smallest)
            """
        let variables = [
            "KAFKA_BOOTSTRAP_SERVERS": "env:2", "KAFKA_GROUP_ID": "env", "KAFKA_TOPICS_DEAD_LETTERS": "env",
            "WORKER_MAX_IN_FLIGHT": "2", "WORKER_MAX_REQUEST_AGE": "2m", "WORKER_UNKNOWN_OUTCOME": "resend_once",
            "WORKER_BATCH_SIZE": "3", "WORKER_DRAIN_TIMEOUT": "4s", "LOG_LEVEL": "error", "LOG_FORMAT": "json",
            "POSTGRES_URL": "postgresql:///env", "POSTGRES_RETENTION": "48h", "POLICY_PATH": "env.yaml",
        ]
        let configuration = try load(text, variables)
        #expect(configuration.kafka.bootstrapServers == "env:2")
        #expect(configuration.kafka.groupID == "env")
        #expect(configuration.kafka.topics.deadLetters == "env")
        #expect(configuration.worker.maxInFlight == 2)
        #expect(configuration.worker.maxRequestAge == .seconds(120))
        #expect(configuration.worker.unknownOutcome == .resendOnce)
        #expect(configuration.worker.batchSize == 3)
        #expect(configuration.worker.drainTimeout == .seconds(4))
        #expect(configuration.log == LogSettings(level: .error, format: .json))
        #expect(configuration.postgres.url.revealed == "postgresql:///env")
        #expect(configuration.worker.retention == .seconds(48 * 3600))
        #expect(configuration.policyPath == "env.yaml")
    }

    @Test func `a variable that is set to nothing counts as not set`() throws {
        #expect(try load(ExampleFiles.smallest, ["KAFKA_GROUP_ID": ""]).kafka.groupID == "code-courier")
    }

    @Test func `a wrong variable is named with its key and without its value`() throws {
        let lines = try faults(ExampleFiles.smallest, ["WORKER_BATCH_SIZE": "many"])
        #expect(lines == ["environment WORKER_BATCH_SIZE: worker.batchSize: must be a whole number from 1 to 10000"])
    }

    @Test func `a variable for an option of Kafka is a fault, since options come from the file`() throws {
        let variables = [
            "KAFKA_OPTIONS_SECURITY_PROTOCOL": "SASL_SSL", "KAFKA_OPTIONS_SASL_PASSWORD": "hidden",
            "KAFKA_OPTIONS_ACKS": "", "KAFKA_OPTIONSET": "x",
        ]
        let message = "cannot be set here: options come from the file only; write it there, such as "
        let expected = ["SASL_PASSWORD", "SECURITY_PROTOCOL"].map { name in
            "environment KAFKA_OPTIONS_\(name): kafka.options: \(message)"
                + "security.protocol: SASL_SSL, and unset the variable"
        }
        let text = "kafka: { options: { security.protocol: SASL_SSL } }\n\(ExampleFiles.smallest)"
        #expect(try faults(ExampleFiles.smallest, variables) == expected)
        #expect(try faults(text, variables) == expected)
        #expect(try faults(text, ["KAFKA_OPTIONS_ACKS": "", "KAFKA_OPTIONSET": "x"]).isEmpty)
        let path = try folder.write(text, to: "courier.yaml")
        #expect(throws: ConfigurationFaults.self) {
            try CourierConfiguration.load(path: path, environment: variables, KafkaSettings.read).get()
        }
    }

    @Test func `a provider's settings come from variables with its name`() throws {
        let text = ExampleFiles.smallest.replacing(
            "{ name: main, kind: log }",
            with: "{ name: sms-main, kind: twilio, accountSid: file, from: a }"
        )
        let variables = ["PROVIDERS_SMS_MAIN_AUTH_TOKEN": "env-token", "PROVIDERS_SMS_MAIN_ACCOUNT_SID": "env"]
        guard let twilio = try load(text, variables).providers.first?.configuration as? TwilioConfiguration else {
            Issue.record("no Twilio provider")
            return
        }
        #expect(twilio.credentials.password.revealed == "env-token")
        #expect(twilio.sender == .from("a"))
        #expect(twilio.accountSid == "env")
    }

    @Test func `a secret may stand in a file, without its last newline`() throws {
        let url = try folder.write("postgresql://u:pw@h/d\r\n", to: "url")
        var variables = ["POSTGRES_URL_FILE": url]
        for name in ["CODE", "HASH", "FINGERPRINT", "SEAL"] {
            variables["KEYS_\(name)"] = ""
            let ring = try #require(ExampleFiles.keys["KEYS_\(name)"])
            variables["KEYS_\(name)_FILE"] = try folder.write("\(ring)\n", to: name)
        }
        let configuration = try load(ExampleFiles.smallest, variables)
        #expect(configuration.postgres.url.revealed == "postgresql://u:pw@h/d")
        #expect(configuration.keys.seal.activeID.number == 1)
    }

    @Test func `a path in the file is relative to the file`() throws {
        _ = try folder.write("postgresql:///relative", to: "url")
        _ = try folder.write("hidden\n", to: "password")
        let text = """
            kafka: { options: { sasl.passwordFile: password } }
            postgres: { urlFile: url }
            policy: { path: rules/policy.yaml }
            providers: [{ name: main, kind: log }]
            """
        let configuration = try load(text, [:])
        #expect(configuration.postgres.url.revealed == "postgresql:///relative")
        #expect(configuration.policyPath == "\(folder.path)/rules/policy.yaml")
        #expect(configuration.kafka.options.mapValues(\.revealed) == ["sasl.password": "hidden"])
    }

    @Test func `a secret and its file in one layer are a fault, in two the variable wins`() throws {
        let path = try folder.write("postgresql:///file", to: "url")
        let both = try faults(
            ExampleFiles.smallest.replacing("postgres: {", with: "postgres: { urlFile: \(path),"),
            [:]
        )
        #expect(both == ["courier.yaml:1: postgres.urlFile: stands beside postgres.url; keep one of the two"])
        let inVariables = ["POSTGRES_URL": "postgresql:///env", "POSTGRES_URL_FILE": path]
        #expect(
            try faults(ExampleFiles.smallest, inVariables) == [
                "environment POSTGRES_URL_FILE: postgres.urlFile: stands beside postgres.url; keep one of the two"
            ]
        )
        let overridden = try load(ExampleFiles.smallest, ["POSTGRES_URL_FILE": path])
        #expect(overridden.postgres.url.revealed == "postgresql:///file")
    }

    /// Empty secrets in the file, with the key at fault.
    static let emptySecrets = [
        (
            "{ name: a, kind: twilio, accountSid: AC1, authToken: \"\", from: \"+15005550006\" }",
            "providers[0].authToken"
        ),
        (
            "{ name: a, kind: vonage, apiKey: k, apiSecret: s, from: Acme, signatureSecret: \"\" }",
            "providers[0].signatureSecret"
        ),
        (
            "{ name: a, kind: smtp, host: h.example, from: a@b.example, username: u, password: \"\" }",
            "providers[0].password"
        ),
    ]

    @Test(arguments: emptySecrets)
    func `a secret that is empty is one fault, and a variable stands in for it`(provider: String, key: String) throws {
        let text = ExampleFiles.smallest.replacing("{ name: main, kind: log }", with: provider)
        #expect(try faults(text, [:]) == ["courier.yaml:3: \(key): must not be empty; give it a value or remove it"])
        let names = ["AUTH_TOKEN", "SIGNATURE_SECRET", "PASSWORD"].map { "PROVIDERS_A_\($0)" }
        let variables = Dictionary(uniqueKeysWithValues: names.map { ($0, "value") })
        #expect(try faults(text, variables).isEmpty)
        #expect(try faults(text, variables.mapValues { _ in "" }).count == 1)
    }

    @Test func `an empty address of a database is one fault`() throws {
        let text = ExampleFiles.smallest.replacing(
            "postgresql://courier_worker:pw-in-file@127.0.0.1/courier",
            with: ""
        )
        let message = "must not be empty; give it a value or remove it"
        #expect(try faults(text, [:]) == ["courier.yaml:1: postgres.url: \(message)"])
    }

    @Test(arguments: [
        (
            "absent",
            "must name a readable file; it cannot be read: there is no such file; \(relative) at the folder of this file"
        ),
        ("/nowhere/absent", "must name a readable file; it cannot be read: there is no such file"),
        (".", "must name a readable file; it cannot be read: it is a folder"),
        ("empty", "must name a file that is not empty"),
    ])
    func `a secret's file that holds nothing is a fault without its path`(name: String, message: String) throws {
        _ = try folder.write("\n", to: "empty")
        let text = ExampleFiles.smallest.replacing(
            "url: \"postgresql://courier_worker:pw-in-file@127.0.0.1/courier\"",
            with: "urlFile: \(name)"
        )
        #expect(try faults(text, [:]) == ["courier.yaml:1: postgres.urlFile: \(message)"])
    }

    private static let relative = "a relative path begins"

    @Test func `a relative path in a variable is told to begin at the working folder`() throws {
        let cause = "must name a readable file; it cannot be read: there is no such file"
        #expect(
            try faults(ExampleFiles.smallest, ["POSTGRES_URL_FILE": "nowhere/absent"]) == [
                "environment POSTGRES_URL_FILE: postgres.urlFile: \(cause); \(Self.relative) at the working folder"
            ]
        )
    }

    @Test(arguments: [
        (ENOENT, "there is no such file"), (ENOTDIR, "there is no such file"),
        (EACCES, "check the permissions of its folder"), (ELOOP, "Too many levels of symbolic links"),
    ])
    func `a file that the system does not show has its reason`(code: Int32, reason: String) {
        #expect(TextFile.Unreadable(code: code).reason == "cannot be read: \(reason)")
    }

    @Test func `a link that leads to itself is not told as missing`() throws {
        let path = "\(folder.path)/loop"
        #expect(symlink(path, path) == 0)
        #expect(throws: TextFile.Unreadable.self) { try TextFile.read(path, maximumBytes: 1) }
        do throws(TextFile.Unreadable) {
            _ = try TextFile.read(path, maximumBytes: 1)
        } catch {
            #expect(error.reason == "cannot be read: Too many levels of symbolic links")
        }
    }
}
