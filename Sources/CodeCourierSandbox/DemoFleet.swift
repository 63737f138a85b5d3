// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import KafkaClient
import KafkaTools
import PostgresClient
import Sandbox
import Verification

/// The demonstration's fleet, as the page uses it: a gateway and a verifier.
struct DemoFleet: SandboxFleet {
    let note = "The demo's policy allows numbers of the US, GB and DE, and any e-mail address."

    private let program: WorkerProgram
    private let configuration: String
    private let pool: PostgresPool
    private let verifier: Verifier
    private let fingerprintKeys: KeyRing

    /// Connects as a verifier that may execute the two functions of `courier_verifier` and nothing else.
    init?(program: WorkerProgram, files: DemoFiles, postgresURL: String) {
        guard let hashKeys = files.hashKeys, let fingerprintKeys = files.fingerprintKeys else { return nil }
        let database = PostgresConfiguration(
            url: postgresURL,
            applicationName: "code-courier demo",
            settings: [("role", "courier_verifier")]
        )
        self.program = program
        self.fingerprintKeys = fingerprintKeys
        configuration = files.configuration
        pool = PostgresPool(database, size: 1)
        verifier = Verifier(pool: pool, hashKeys: hashKeys)
    }

    func close() async { await pool.close() }

    func request(for recipient: FleetRecipient) async throws -> String {
        let ended = try await program.run(
            ["request", "send", "--config", configuration, "--wait", "0"] + Self.arguments(recipient)
        )
        // Its first line is "request ID is on TOPIC, …".
        guard ended.code == 0, let id = ended.lines.first?.split(separator: " ").dropFirst().first else {
            throw FleetError("the request was not published; the demo's terminal says why")
        }
        return String(id)
    }

    /// The options of `request send`; a value that looks like an option stays a value.
    static func arguments(_ recipient: FleetRecipient) -> [String] {
        switch recipient {
        case .phone(let number): ["--phone=\(number)"]
        case .email(let address): ["--email=\(address)", "--url", "https://example.com/welcome"]
        case .device(let token):
            ["--device-token=\(token)", "--bundle-id", "com.example.app", "--purpose", "app_verification"]
        }
    }

    func check(_ guess: FleetGuess) async throws -> FleetVerdict {
        guard let id = UUIDValue(guess.verificationID), let purpose = Purpose(rawValue: guess.purpose) else {
            throw FleetError("the event about this message names no verification")
        }
        let address = guess.email.flatMap { EmailAddress($0) }
        do {
            let answer = try await verifier.check(
                Verifier.Guess(
                    VerificationID(id),
                    tenant: guess.tenant,
                    purpose: purpose,
                    code: guess.secret,
                    recipientFingerprint: address.map { Recipient.email($0).fingerprint(key: fingerprintKeys.active) }
                )
            )
            return FleetVerdict(status: answer.status.rawValue, checksLeft: answer.checksLeft.map { Int($0) })
        } catch let error as PostgresError {
            throw FleetError("the database did not check the guess: \(error)")
        }
    }

    /// Shows the delivery events on the page, until the task is cancelled.
    static func follow(_ kafka: KafkaConfiguration, on sandbox: Sandbox) async throws {
        let reader = try await TopicReader.open(
            configuration: kafka,
            topic: DemoStage.topics.deliveries,
            from: .beginning
        )
        do {
            while !Task.isCancelled {
                for record in try await reader.next(maximum: 500, within: .seconds(1)) {
                    if let delivery = record.value.flatMap({ SandboxDelivery($0) }) { await sandbox.show(delivery) }
                }
            }
            await reader.close()
        } catch {
            await reader.close()
            throw error
        }
    }
}
