// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Sandbox

/// The steps of the demonstration, made of commands that anyone can type.
struct DemoScene {
    let program: WorkerProgram

    /// The path of the worker's configuration.
    let configuration: String
    let kafka: KafkaConfiguration
    let sandbox: Sandbox
    let inbox: String

    /// Runs the scene to its end; nil when its task is cancelled before.
    func play() async throws -> DemoResult? {
        do {
            return try await playAll()
        } catch _ where Task.isCancelled {
            return nil
        }
    }

    private func playAll() async throws -> DemoResult {
        var result = DemoResult()
        say("A PostgreSQL, an embedded Kafka broker, a pretended SMS provider and one worker are running.")
        say("Messages arrive on the phones of \(inbox)\n")

        say("1. Ada signs in. Her app's gateway puts a request on the topic \(DemoStage.topics.requests).")
        let ada = try await ask("+4915123456789", &result)
        say("   She types the code.")
        try await approve(ada, "+4915123456789", &result)

        say("2. Ben signs in, gets impatient and asks again at once.")
        let ben = try await ask("+447400123456", &result)
        _ = try await ask("+447400123456", &result)
        say("   One message only, and the second event carries the first one's verification: nobody pays twice.")
        say("   He mistypes, then types the code.")
        try await guess("000000", ben)
        try await approve(ben, "+447400123456", &result)

        say("3. Somebody asks for a number in France, where this policy sends nothing.")
        _ = try await ask("+33612345678", &result)

        say("4. A broken gateway writes half a JSON.")
        try await breakGateway()
        try await expectDeadLetter(&result)
        return result
    }

    func explainWhatNext() {
        say(
            """

            Open \(inbox) and send a message to a phone of your own choice (US, GB and DE are allowed):
              code-courier request send --bootstrap-servers \(kafka.bootstrapServers) --phone +16502530000
            Watch the events:
              code-courier events tail --from-beginning --bootstrap-servers \(kafka.bootstrapServers)
            Ctrl-C ends the demo.
            """
        )
    }

    /// A delivery event, parsed from the output of `code-courier request send`.
    private struct Event {
        let words: [Substring]

        init(_ line: String) { words = line.split(separator: " ") }

        var status: Substring { words.dropFirst().first ?? "" }
        var verification: String? {
            words.first { $0.hasPrefix("verification=") }.map { String($0.dropFirst("verification=".count)) }
        }
    }

    /// Sends a request and shows the event that answers it.
    private func ask(_ number: String, _ result: inout DemoResult) async throws -> Event? {
        let ended = try await run(["request", "send", "--phone", number, "--wait", "30"])
        guard ended.code == 0, let line = ended.lines.first(where: { $0.contains("  request=") }) else { return nil }
        let event = Event(line)
        switch event.status {
        case "sent": result.sent += 1
        case "suppressed": result.suppressed += 1
        case "rejected": result.rejected += 1
        default: break
        }
        return event
    }

    private func approve(_ event: Event?, _ number: String, _ result: inout DemoResult) async throws {
        guard let code = await sandbox.messages(to: number).last?.code else {
            say("   No message came.")
            return
        }
        if try await guess(code, event) { result.approved += 1 }
    }

    /// Checks a code; true when the verifier approves.
    @discardableResult
    private func guess(_ code: String, _ event: Event?) async throws -> Bool {
        guard let verification = event?.verification else { return false }
        return try await run(["verify", "--verification", verification, "--code", code]).code == 0
    }

    private func breakGateway() async throws {
        let producer = try KafkaProducer(configuration: kafka)
        // Runs the producer until `close`.
        async let serving: Void = producer.run()
        let value = Array(#"{"requestId": "half"#.utf8)
        _ = await producer.send([ProducerRecord(topic: DemoStage.topics.requests, key: nil, value: value, headers: [])])
        await producer.close(within: .seconds(5))
        try await serving
    }

    private func expectDeadLetter(_ result: inout DemoResult) async throws {
        let arguments = ["dead-letters", "list", "--config", configuration, "--json"]
        // Poll: only reading the topic shows whether the worker has already produced the dead letter.
        for _ in 0..<60 where result.deadLetters == 0 {
            result.deadLetters = try await program.run(arguments).lines.count
            if result.deadLetters == 0 { try await Task.sleep(for: .milliseconds(500)) }
        }
        _ = try await run(["dead-letters", "list"])
    }

    /// Runs a command, and shows it with its output; a code in it is hidden.
    private func run(_ arguments: [String]) async throws -> WorkerProgram.Ended {
        let shown = arguments.enumerated().map { $0 > 0 && arguments[$0 - 1] == "--code" ? "…" : $1 }
        say("   $ code-courier \(shown.joined(separator: " "))")
        let ended = try await program.run(arguments + ["--config", configuration])
        for line in ended.lines { say("     \(line)") }
        return ended
    }

    private func say(_ line: String) { printOutput(line) }
}

/// The counts at the end of a demonstration.
struct DemoResult: Equatable, Sendable {
    var sent = 0
    var approved = 0
    var suppressed = 0
    var rejected = 0
    var deadLetters = 0

    /// The counts when everything works.
    static let expected = DemoResult(sent: 2, approved: 2, suppressed: 1, rejected: 1, deadLetters: 1)

    var isExpected: Bool { self == Self.expected }

    var json: String {
        """
        {"demo":"\(isExpected ? "ok" : "failed")","sent":\(sent),"approved":\(approved),"suppressed":\(suppressed),\
        "rejected":\(rejected),"dead_letters":\(deadLetters)}
        """
    }
}
