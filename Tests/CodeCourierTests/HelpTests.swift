// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Providers
import TestTools
import Testing

@testable import CodeCourier

@Suite struct HelpTests {
    /// The commands without subcommands, with the words of their call.
    private static func leaves(
        of command: any ParsableCommand.Type = CodeCourier.self,
        called path: [String] = ["code-courier"]
    ) -> [(path: [String], command: any ParsableCommand.Type)] {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty else { return [(path, command)] }
        return subcommands.flatMap { leaves(of: $0, called: path + [$0.configuration.commandName ?? ""]) }
    }

    @Test func `each command shows how it is called`() {
        let leaves = Self.leaves()
        #expect(leaves.count > 10)
        for (path, command) in leaves where command.configuration.shouldDisplay {
            let call = path.joined(separator: " ")
            #expect(command.configuration.discussion.contains("\n  \(call)"), "\(call) has no example")
        }
    }

    @Test(arguments: [
        ("polcy check policy.yaml", "code-courier has no command polcy; did you mean policy?"),
        ("policy chek policy.yaml", "code-courier policy has no command chek; did you mean check?"),
        ("nonsense", "code-courier has no command nonsense; its commands are run, migrate,"),
        ("help runn", "code-courier has no command runn; did you mean run?"),
        ("help policy explian", "code-courier policy has no command explian; did you mean explain?"),
        ("help nonsense", "code-courier has no command nonsense; its commands are run, migrate,"),
        ("help run now", "code-courier run has no commands below it"),
    ])
    func `a command that there is none of exits 64 and says which are meant`(call: String, words: String) throws {
        let error = #expect(throws: ValidationError.self) {
            try CommandNames.check(call.split(separator: " ").map(String.init))
        }
        #expect(error?.message.hasPrefix(words) == true, "\(error?.message ?? "")")
        #expect(CodeCourier.exitCode(for: try #require(error)) == .validationFailure)
    }

    @Test(arguments: [
        "help", "help run", "help policy explain", "help --version", "run --check", "--version", "", "policy",
        "show polcy", "policy check chek", "--generate-completion-script bash",
    ])
    func `a call without a mistyped command passes`(call: String) throws {
        try CommandNames.check(call.split(separator: " ").map(String.init))
    }

    @Test func `no line of a help is broken where it is not written so`() {
        for (path, command) in Self.leaves() + [(["code-courier"], CodeCourier.self)] {
            let lines = command.configuration.discussion.split(separator: "\n")
            #expect(lines.allSatisfy { $0.count < 80 }, "\(path.joined(separator: " "))")
        }
    }

    @Test func `examples that follow several logs give nothing but lines, and of many pods`() {
        let lines = Self.leaves().flatMap { leaf in
            leaf.command.configuration.discussion.replacing("\\\n", with: "").split(separator: "\n")
        }
        let tails = lines.filter { $0.contains("tail -") && $0.contains("*.log") }
        let pods = lines.filter { $0.contains("kubectl logs -f") }
        #expect(!tails.isEmpty && tails.allSatisfy { $0.contains("tail -qF ") }, "\(tails)")
        #expect(!pods.isEmpty && pods.allSatisfy { $0.contains("--max-log-requests=") }, "\(pods)")
    }

    @Test func `the help names every page`() throws {
        let root = Repository.root
        let files = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "docs").path)
        let pages = files.filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }
        let parts = CodeCourier.configuration.discussion.components(separatedBy: "The pages are in docs: ")
        let named = try #require(parts.last).split(whereSeparator: { ", .\n".contains($0) }).map(String.init)
        #expect(parts.count == 2)
        #expect(named.sorted() == pages.sorted())
    }

    @Test func `defaults are shown in the words that set them`() {
        let help = CodeCourier.helpMessage(for: PolicySimulateCommand.self, columns: 200)
        #expect(help.contains("(default: 24h)"), "\(help)")
        #expect(help.contains("(default: now)"))
    }
}
