// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Foundation
import Glibc
import PostgresClient
import Providers
import SettingsReading
import Synchronization
import TestSupport
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Reload of secrets", .timeLimit(.minutes(1)))
struct SecretReloadTests {
    private let folder: ScratchFolder
    private let path: String
    private let configuration: CourierConfiguration
    private let secrets: WorkerSecrets
    private let log = LogRecord()
    private let made = MadeProviders()

    init() throws {
        folder = try ScratchFolder()
        for (name, text) in Self.files { _ = try folder.write(text + "\n", to: name) }
        path = try folder.write(Self.text, to: "courier.yaml")
        configuration = try CourierConfiguration.load(path: path, environment: [:]).get()
        let made = made
        secrets = WorkerSecrets(configuration) { made.make($0) }
    }

    private static let files = [
        "code": ExampleFiles.ring(1, filledWith: 1), "hash": ExampleFiles.ring(1, filledWith: 2),
        "fingerprint": ExampleFiles.ring(1, filledWith: 3), "seal": ExampleFiles.ring(1, filledWith: 4),
        "token": "canary-token-1",
    ]

    private static let text = """
        postgres: { url: "postgresql://courier_worker@127.0.0.1/courier" }
        policy: { path: policy.yaml }
        keys: { codeFile: code, hashFile: hash, fingerprintFile: fingerprint, sealFile: seal }
        providers:
          - { name: main, kind: twilio, accountSid: ACxxx, authTokenFile: token, from: "+15005550006" }
        """

    private func loader(
        _ configuration: CourierConfiguration? = nil,
        firstRetry: Duration = .seconds(5),
        joinFleet: @escaping SecretLoader.KeyComparison = { _ async throws(DatabaseFault) in }
    ) -> SecretLoader {
        SecretLoader(
            path: path,
            environment: [:],
            configuration: configuration ?? self.configuration,
            secrets: secrets,
            joinFleet: joinFleet,
            firstRetry: firstRetry,
            logger: log.logger
        )
    }

    private var codeKey: KeyID { secrets.keys.current.code.activeID }

    @Test func `a new key before the others is in force soon, and the old one stays known`() async throws {
        try await watching(loader()) {
            let rings = "\(ExampleFiles.ring(2, filledWith: 9)),\(ExampleFiles.ring(1, filledWith: 1))"
            _ = try folder.write(rings, to: "code")
            try await eventually("the new key") { codeKey == KeyID(2) }
        }
        #expect(secrets.keys.current.code[KeyID(1)] == configuration.keys.code.active)
        #expect(log.events == ["secrets.reloaded"])
        #expect(log.values("code_keys") == ["2,1"])
    }

    @Test func `a file that a link leads to is followed, as Kubernetes changes secrets`() async throws {
        let other = try ScratchFolder()
        let next = try other.write(ExampleFiles.ring(7, filledWith: 8), to: "seal")
        try await watching(loader()) {
            #expect(symlink(next, "\(folder.path)/next") == 0)
            #expect(rename("\(folder.path)/next", "\(folder.path)/seal") == 0)
            try await eventually("the key behind the link") { secrets.keys.current.seal.activeID == KeyID(7) }
        }
    }

    @Test(
        arguments: [
            "", "1:not base64", "1:AAAA", "nothing",
            "\(ExampleFiles.ring(1, filledWith: 1)),\(ExampleFiles.ring(1, filledWith: 5))",
            ExampleFiles.ring(2, filledWith: 2), ExampleFiles.ring(1, filledWith: 7),
        ]
    )
    func `a faulty ring is refused without being shown, and the one in force stays`(_ text: String) async throws {
        let loader = loader()
        _ = try folder.write(text, to: "code")
        await loader.load(because: .change)
        #expect(log.events == ["secrets.refused"])
        #expect(codeKey == KeyID(1))
        #expect(secrets.keys.current.code.active == configuration.keys.code.active)
        let fault = try #require(log.values("fault").first)
        #expect(fault.contains("keys."))
        for part in text.split(whereSeparator: { ":,".contains($0) }) where part.count > 3 {
            #expect(!fault.contains(part))
        }

        let rings = "\(ExampleFiles.ring(3, filledWith: 6)),\(ExampleFiles.ring(1, filledWith: 1))"
        _ = try folder.write(rings, to: "code")
        await loader.load(because: .change)
        #expect(codeKey == KeyID(3))
    }

    @Test func `a new key is compared with the fleet's, and one that is another is refused by its name`() async throws {
        let other = KeyCheck.OtherKeys(names: [KeyName(ring: "code", id: KeyID(2))])
        let asked = Mutex<[KeyID]>([])
        let loader = loader { keys async throws(DatabaseFault) in
            asked.withLock { $0 = keys.code.ids }
            throw DatabaseFault(other)
        }
        let rings = "\(ExampleFiles.ring(2, filledWith: 9)),\(ExampleFiles.ring(1, filledWith: 1))"
        _ = try folder.write(rings, to: "code")
        await loader.load(because: .change)
        #expect(asked.withLock(\.self) == [KeyID(2), KeyID(1)])
        #expect(log.events == ["secrets.refused"])
        #expect(log.values("fault") == ["\(other)"])
        #expect(secrets.keys.current.code.ids == [KeyID(1)])
    }

    @Test func `a reload that met no database is tried again by itself`() async throws {
        let failures = Mutex(2)
        let loader = loader(firstRetry: .milliseconds(1)) { _ async throws(DatabaseFault) in
            let isAway = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            if isAway { throw DatabaseFault(PostgresError(.connectionFailed)) }
        }
        try await watching(loader) {
            let rings = "\(ExampleFiles.ring(1, filledWith: 1)),\(ExampleFiles.ring(2, filledWith: 9))"
            _ = try folder.write(rings, to: "code")
            try await eventually("the new key") { secrets.keys.current.code.ids == [KeyID(1), KeyID(2)] }
        }
        #expect(log.events == ["secrets.refused", "secrets.refused", "secrets.reloaded"])
        #expect(await !loader.isRetryDue)
    }

    @Test func `a key that live rows need is not given up before they end, and then by itself`() async throws {
        let refusals = Mutex(2)
        let loader = loader(firstRetry: .milliseconds(1)) { keys async throws(DatabaseFault) in
            let isNeeded = refusals.withLock { left in
                guard keys.code[KeyID(1)] == nil else { return false }
                left -= 1
                return left >= 0
            }
            let need = KeyNeed(name: KeyName(ring: "code", id: KeyID(1)), rows: 8, until: .now + .milliseconds(20))
            if isNeeded { throw DatabaseFault(KeyUse.MissingKeys([need])) }
        }
        try await watching(loader) {
            let rings = "\(ExampleFiles.ring(2, filledWith: 9)),\(ExampleFiles.ring(1, filledWith: 1))"
            _ = try folder.write(rings, to: "code")
            try await eventually("both keys") { secrets.keys.current.code.ids == [KeyID(2), KeyID(1)] }
            _ = try folder.write(ExampleFiles.ring(2, filledWith: 9), to: "code")
            try await eventually("the new key alone") { secrets.keys.current.code.ids == [KeyID(2)] }
        }
        #expect(log.events == ["secrets.reloaded", "secrets.refused", "secrets.refused", "secrets.reloaded"])
    }

    @Test func `a reload without a needed key is refused with the time, and the ring in force stays`() async throws {
        let need = KeyNeed(name: KeyName(ring: "hash", id: KeyID(1)), rows: 8, until: .now + .seconds(600))
        let missing = KeyUse.MissingKeys([need])
        let loader = loader { _ async throws(DatabaseFault) in throw DatabaseFault(missing) }
        _ = try folder.write(ExampleFiles.ring(2, filledWith: 9), to: "hash")
        await loader.load(because: .change)
        #expect(log.events == ["secrets.refused"])
        #expect(log.values("fault") == ["\(missing); the rings are read again then"])
        #expect(secrets.keys.current.hash.ids == [KeyID(1)])
        #expect(await !loader.isRetryDue)
    }

    @Test func `without the database no new key comes into force, and a provider's credential does`() async throws {
        let loader = loader { _ async throws(DatabaseFault) in
            throw DatabaseFault(PostgresError(.connectionFailed))
        }
        _ = try folder.write("canary-token-2", to: "token")
        await loader.load(because: .change)
        #expect(made.tokens == ["canary-token-1", "canary-token-2"])
        let rings = "\(ExampleFiles.ring(1, filledWith: 1)),\(ExampleFiles.ring(2, filledWith: 9))"
        _ = try folder.write(rings, to: "code")
        await loader.load(because: .signal)
        #expect(log.events == ["secrets.reloaded", "secrets.refused"])
        #expect(log.values("fault").first?.contains("SIGHUP") == true)
        #expect(secrets.keys.current.code.ids == [KeyID(1)])
    }

    @Test func `without the database no key is given up either`() async throws {
        let loader = loader(firstRetry: .milliseconds(1)) { _ async throws(DatabaseFault) in
            throw DatabaseFault(PostgresError(.connectionFailed))
        }
        _ = try folder.write(ExampleFiles.ring(2, filledWith: 9), to: "seal")
        await loader.load(because: .change)
        #expect(log.events == ["secrets.refused"])
        #expect(secrets.keys.current.seal.ids == [KeyID(1)])
        try await eventually("a retry is due") { await loader.isRetryDue }
    }

    @Test func `people do not change their fingerprints in a running fleet`() async throws {
        let ring = ExampleFiles.ring(1, filledWith: 3)
        let loader = loader()
        _ = try folder.write("\(ExampleFiles.ring(2, filledWith: 9)),\(ring)", to: "fingerprint")
        await loader.load(because: .change)
        #expect(log.events == ["secrets.refused"])
        #expect(secrets.keys.current.fingerprint.activeID == KeyID(1))
        _ = try folder.write("\(ring),\(ExampleFiles.ring(2, filledWith: 9))", to: "fingerprint")
        await loader.load(because: .change)
        #expect(secrets.keys.current.fingerprint.all.count == 2)
    }

    @Test func `a provider's new credential is used from the next message on, and receipts of both are believed`()
        async throws
    {
        let provider = try #require(secrets.providers.first)
        try await watching(loader()) {
            _ = try folder.write("canary-token-2", to: "token")
            try await eventually("the second provider") { made.tokens.count == 2 }
        }
        #expect(made.tokens == ["canary-token-1", "canary-token-2"])
        let message = OutboundMessage(
            sendID: SendID(try #require(UUIDValue("019a0000-0000-7000-8000-000000000001"))),
            content: .sms(TextMessage(recipient: try #require(PhoneNumber("+4915123456789")), text: "")),
            validity: .seconds(1),
            callDeadline: .seconds(1),
            leaveBy: .now + .seconds(60)
        )
        #expect(await provider.send(message).errorCode == "canary-token-2")
        #expect(secrets.receipts.current.description == "ReceiptSecrets(main)")
        #expect(log.events == ["secrets.reloaded"])
    }

    @Test func `an edit of the configuration waits for a new start, whatever file of a secret changes`() async throws {
        let loader = loader()
        let edited = Self.text.replacingOccurrences(of: "name: main", with: "name: main, baseURL: http://127.0.0.1:1")
        _ = try folder.write(edited, to: "courier.yaml")
        _ = try folder.write("canary-token-2", to: "token")
        await loader.load(because: .change)
        #expect(made.tokens == ["canary-token-1", "canary-token-2"])
        #expect(made.addresses == Array(repeating: TwilioConfiguration.defaultBaseURL, count: 2))
    }

    @Test func `what Kafka and PostgreSQL are reached with waits for a new start, without a word`() async throws {
        let url = "url: \"postgresql://courier_worker@127.0.0.1/courier\""
        let text = Self.text.replacingOccurrences(of: url, with: "urlFile: url")
        _ = try folder.write("\(text)\nkafka: { options: { sasl.passwordFile: password } }", to: "courier.yaml")
        _ = try folder.write("postgresql://courier_worker:canary-1@127.0.0.1/courier", to: "url")
        _ = try folder.write("canary-1", to: "password")
        let loader = loader(try CourierConfiguration.load(path: path, environment: [:]).get())
        #expect(await loader.paths == Self.files.keys.map { "\(folder.path)/\($0)" }.sorted())

        _ = try folder.write("postgresql://courier_worker:canary-2@127.0.0.1/courier", to: "url")
        _ = try folder.write("canary-2", to: "password")
        await loader.load(because: .change)
        #expect(log.events.isEmpty)
        #expect(made.tokens == ["canary-token-1"])
        _ = try folder.write("canary-token-2", to: "token")
        await loader.load(because: .change)
        #expect(log.events == ["secrets.reloaded"])
        #expect(made.tokens == ["canary-token-1", "canary-token-2"])
    }

    @Test func `a signal is answered, and leaves providers in peace where nothing is new`() async throws {
        let loader = loader()
        await loader.load(because: .signal)
        await loader.load(because: .signal)
        await loader.load(because: .change)
        #expect(log.events == ["secrets.reloaded", "secrets.reloaded"])
        #expect(made.tokens.count == 1)
    }
}

/// Providers that answer with the token from which they were created.
private final class MadeProviders: Sendable {
    private let made = Mutex<[(token: String, address: String)]>([])

    var tokens: [String] { made.withLock { $0.map(\.token) } }
    var addresses: [String] { made.withLock { $0.map(\.address) } }

    func make(_ settings: ProviderSettings) -> any MessageProvider {
        guard let twilio = settings.configuration as? TwilioConfiguration else {
            return Teller(name: settings.name, token: "")
        }
        made.withLock { $0.append((twilio.credentials.password.revealed, twilio.baseURL)) }
        return Teller(name: settings.name, token: twilio.credentials.password.revealed)
    }

    private struct Teller: MessageProvider {
        let name: String
        let token: String

        func send(_ message: OutboundMessage) async -> ProviderAnswer {
            ProviderAnswer(.accepted, errorCode: token)
        }
    }
}
