// SPDX-License-Identifier: Apache-2.0

import Administration
import KafkaClient
import PostgresClient
import Sandbox
import Verification

/// The story that the demonstration tells.
struct DemoScene {
    let settings: KafkaSettings
    let sandbox: Sandbox
    let verifier: DemoVerifier
    let inbox: String

    static let policy = """
        version: "demo.1"
        tenants:
          default:
            appName: Acme
            regions: { allowlistOnly: { allowedRegions: [US, GB, DE] } }
            routes: { default: [sandbox] }
        """

    private static let patience = Duration.seconds(30)

    /// Plays the scene to its end; a cancelled task ends it with an error at once.
    func play() async throws -> DemoResult {
        let gateway = try await Gateway(settings)
        let deadLetters = try await TopicReader.open(
            configuration: settings.client,
            topic: settings.topics.deadLetters,
            from: .end
        )
        let result: Result<DemoResult, any Error>
        do {
            result = .success(try await play(gateway, deadLetters))
        } catch {
            result = .failure(error)
        }
        await gateway.close()
        await deadLetters.close()
        await verifier.close()
        return try result.get()
    }

    private func play(_ gateway: Gateway, _ deadLetters: TopicReader) async throws -> DemoResult {
        var result = DemoResult()
        say("A PostgreSQL, an embedded Kafka broker, a pretended SMS provider and one worker are running.")
        say("Messages arrive on the phones of \(inbox)\n")

        say("1. Ada signs in. Her app's gateway puts a request on the topic \(settings.topics.requests).")
        let ada = try await ask(gateway, "+4915123456789", &result)
        say("   She types the code.")
        try await approve(ada, "+4915123456789", &result)

        say("2. Ben signs in, gets impatient and asks again at once.")
        let ben = try await ask(gateway, "+447400123456", &result)
        _ = try await ask(gateway, "+447400123456", &result)
        say("   One message only, and the second event carries the first one's verification: nobody pays twice.")
        say("   He mistypes, then types the code.")
        try await guess("000000", ben)
        try await approve(ben, "+447400123456", &result)

        say("3. Somebody asks for a number in France, where this policy sends nothing.")
        _ = try await ask(gateway, "+33612345678", &result)

        say("4. A broken gateway writes half a JSON.")
        _ = try await gateway.send(value: Array(#"{"requestId": "half"#.utf8), key: "broken")
        try await expectDeadLetter(deadLetters, &result)
        return result
    }

    func explainWhatNext(bootstrapServers: String) {
        say(
            """

            Open \(inbox) and send a message to a phone of your own choice (US, GB and DE are allowed):
              \(programPath) request send --bootstrap-servers \(bootstrapServers) --phone +16502530000
            Watch the events:
              \(programPath) events tail --from-beginning --bootstrap-servers \(bootstrapServers)
            Ctrl-C ends the demo.
            """
        )
    }

    private var programPath: String { CommandLine.arguments.first ?? "code-courier" }

    /// Sends a request and tells the event that answers it.
    private func ask(_ gateway: Gateway, _ number: String, _ result: inout DemoResult) async throws -> EventLine? {
        let request = GatewayRequest(requestID: GatewayRequest.newID(), purpose: "sign_in", phoneNumber: number)
        _ = try await gateway.send(request)
        guard let value = try await gateway.event(answering: request.requestID, within: Self.patience) else {
            say("   No event came.")
            return nil
        }
        let event = EventLine(value)
        switch event.status {
        case "sent": result.sent += 1
        case "suppressed": result.suppressed += 1
        case "rejected": result.rejected += 1
        default: break
        }
        say("   event: \(event.text)")
        return event
    }

    private func approve(_ event: EventLine?, _ number: String, _ result: inout DemoResult) async throws {
        guard let code = await sandbox.messages(to: number).last?.code else {
            say("   No message came.")
            return
        }
        if try await guess(code, event) == .approved { result.approved += 1 }
    }

    @discardableResult
    private func guess(_ code: String, _ event: EventLine?) async throws -> Verifier.Answer.Status? {
        guard let event, let id = event.verificationID.flatMap({ UUIDValue($0) }) else { return nil }
        let status = try await verifier.check(VerificationID(id), code: code)
        say("   verifier: \(status.rawValue)")
        return status
    }

    private func expectDeadLetter(_ reader: TopicReader, _ result: inout DemoResult) async throws {
        guard let record = try await reader.first(within: Self.patience) else {
            say("   No dead letter came.")
            return
        }
        result.deadLetters += 1
        let reason = record.headers.last { $0.name == "dead-letter-reason" }?.value ?? []
        say("   dead letter: \(String(decoding: reason, as: UTF8.self)), with the original bytes")
    }

    private func say(_ line: String) {
        printOutput([line])
    }
}

/// The verifier service of the demonstration.
struct DemoVerifier {
    private let pool: PostgresPool
    private let verifier: Verifier

    init(url: String, hashKeys: KeyRing) {
        pool = PostgresPool(PostgresConfiguration(url: url, applicationName: "code-courier demo verifier"), size: 1)
        verifier = Verifier(pool: pool, hashKeys: hashKeys)
    }

    func check(_ verification: VerificationID, code: String) async throws -> Verifier.Answer.Status {
        try await verifier.check(verification, tenant: "default", purpose: .signIn, code: code).status
    }

    func close() async {
        await pool.close()
    }
}
