// SPDX-License-Identifier: Apache-2.0

import Sandbox

/// The steps of the demonstration, made of commands that anyone can type.
struct DemoScene {
    let program: WorkerProgram

    /// The path of the worker's configuration.
    let configuration: String
    let producer: DemoProducer
    let sandbox: Sandbox

    private static let ada = "+4915123456789"
    private static let ben = "+447400123456"
    private static let cleo = "cleo@example.com"
    private static let dan = String(repeating: "0f", count: 32)

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
        say("1. Ada signs in: her app's gateway writes to \(DemoStage.topics.requests).")
        let ada = try await ask(.phone(Self.ada), &result)
        say("   She types the code.")
        try await answer(ada, await sandbox.messages(to: Self.ada).last?.code, [], &result)

        say("2. Ben signs in, gets impatient and asks again at once.")
        let ben = try await ask(.phone(Self.ben), &result)
        _ = try await ask(.phone(Self.ben), &result)
        say("   One message only; the second event names the first verification.")
        say("   He mistypes, then types the code.")
        try await check(ben, "000000")
        try await answer(ben, await sandbox.messages(to: Self.ben).last?.code, [], &result)

        say("3. Cleo signs in by e-mail, and types the code of the mail.")
        let cleo = try await ask(.email(Self.cleo), &result)
        try await answer(cleo, await sandbox.emails(to: Self.cleo).last?.code, ["--email", Self.cleo], &result)

        say("4. Dan's phone proves that the real app runs on it: a silent push has a secret.")
        let dan = try await ask(.device(Self.dan), &result)
        let secret = await sandbox.pushes(to: Self.dan).last?.secret
        try await answer(dan, secret, ["--purpose", "app_verification"], &result)

        say("5. Somebody asks for a number in France, where this policy sends nothing.")
        _ = try await ask(.phone("+33612345678"), &result)

        say("6. A broken gateway writes half a JSON.")
        await producer.writeBrokenRequest()
        try await expectDeadLetter(&result)
        return result
    }

    /// Sends a request and shows the event that answers it.
    private func ask(_ recipient: FleetRecipient, _ result: inout DemoResult) async throws -> DemoEvent? {
        let ended = try await run(["request", "send"] + DemoFleet.arguments(recipient), hidden: ["--wait", "30"])
        guard let event = ended.lines.lazy.compactMap({ DemoEvent($0) }).first else {
            for line in ended.lines { say("     \(DemoText.shortened(line))") }
            return nil
        }
        say("     \(event.text)")
        switch event.status {
        case "sent": result.sent += 1
        case "suppressed": result.suppressed += 1
        case "rejected": result.rejected += 1
        default: break
        }
        return event
    }

    /// Checks the secret of a message, which must be approved.
    private func answer(
        _ event: DemoEvent?,
        _ secret: String?,
        _ options: [String],
        _ result: inout DemoResult
    ) async throws {
        guard let secret else { return say("   No message came.") }
        if try await check(event, secret, options) { result.approved += 1 }
    }

    /// Checks a guess; true if the verifier approves it.
    @discardableResult
    private func check(_ event: DemoEvent?, _ secret: String, _ options: [String] = []) async throws -> Bool {
        guard let verification = event?.verification else { return false }
        let ended = try await run(["verify", "--verification", verification, "--code", secret] + options)
        for line in ended.lines { say("     \(line)") }
        return ended.code == 0
    }

    private func expectDeadLetter(_ result: inout DemoResult) async throws {
        let arguments = ["dead-letters", "list", "--config", configuration, "--json"]
        // Poll: only reading the topic shows whether the worker has already produced the dead letter.
        for _ in 0..<60 where result.deadLetters == 0 {
            result.deadLetters = try await program.run(arguments).lines.count
            if result.deadLetters == 0 { try await Task.sleep(for: .milliseconds(500)) }
        }
        // Its columns are id, time, reason and place; the first line has their names.
        for line in try await run(["dead-letters", "list"]).lines.dropFirst() {
            let columns = line.split(separator: " ")
            if columns.count > 3 { say("     \(columns[2])  \(columns[3])") }
        }
    }

    /// Shows a command and runs it, with `hidden` arguments that only this demonstration needs.
    private func run(_ arguments: [String], hidden: [String] = []) async throws -> WorkerProgram.Ended {
        say(DemoText.command(arguments))
        return try await program.run(arguments + hidden + ["--config", configuration])
    }

    private func say(_ line: String) { printOutput(DemoText.coloured(line)) }
}

/// The event that answers a request, parsed from the output of `code-courier request send`.
private struct DemoEvent {
    /// The line without its time and request id, which the story does not need.
    private let words: [Substring]

    /// Nil for a line that is no event.
    init?(_ line: String) {
        let words = line.split(separator: " ")
        guard words.contains(where: { $0.hasPrefix("request=") }) else { return nil }
        self.words = words.dropFirst().filter { !$0.hasPrefix("request=") }
    }

    var status: Substring { words.first ?? "" }

    var verification: String? {
        words.first { $0.hasPrefix("verification=") }.map { String($0.dropFirst("verification=".count)) }
    }

    var text: String {
        words.map { DemoText.shortened($0.replacing("=", with: " ")) }.joined(separator: "  ")
    }
}

/// The counts at the end of a demonstration.
struct DemoResult: Equatable, Sendable {
    var sent = 0
    var approved = 0
    var suppressed = 0
    var rejected = 0
    var deadLetters = 0

    /// The counts when everything works.
    static let expected = DemoResult(sent: 4, approved: 4, suppressed: 1, rejected: 1, deadLetters: 1)

    var isExpected: Bool { self == Self.expected }

    var json: String {
        """
        {"demo":"\(isExpected ? "ok" : "failed")","sent":\(sent),"approved":\(approved),"suppressed":\(suppressed),\
        "rejected":\(rejected),"dead_letters":\(deadLetters)}
        """
    }
}
