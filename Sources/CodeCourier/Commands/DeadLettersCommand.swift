// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import KafkaClient
import Logs
import Verification

/// Lists and redrives dead letters: records that could not be read.
struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "Lists records that could not be read, and puts them back on their topics.",
        subcommands: [DeadLettersListCommand.self, DeadLettersRedriveCommand.self]
    )
}

/// The options for the topic of dead letters and the earliest time to read.
struct DeadLetterOptions: ParsableArguments {
    @OptionGroup var kafka: KafkaOptions

    @Option(help: "Only those found since then: beginning, a span before now such as 1h or 7d, or a time.")
    var since = TimeArgument.beginning

    func topic() throws -> DeadLetterTopic {
        DeadLetterTopic(kafka: try kafka.settings(), since: since.time(before: .now))
    }
}

extension DeadLetterReason: ExpressibleByArgument {}

struct DeadLettersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Shows the records that could not be read, and why.",
        discussion: """
            It belongs to no consumer group and changes nothing. With --json each line is a
            JSON object.

              code-courier dead-letters list --since 1h --reason not_json

            Next: fix the cause, then run code-courier dead-letters redrive.

            WARNING: --show-payload prints the records' values as they came. They may hold
            phone numbers and e-mail addresses: keep them out of tickets and logs.
            """
    )

    @OptionGroup var source: DeadLetterOptions

    @Option(help: "Only those with this reason.")
    var reason: DeadLetterReason?

    @Option(help: "At most so many, the newest.")
    var limit = 100

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print the values too; they may hold phone numbers.")
    var showPayload = false

    func validate() throws {
        guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000000") }
    }

    func run() async throws {
        let topic = try source.topic()
        let selection = reason.map { DeadLetterSelection.reason($0) } ?? .all
        var list = DeadLetterList(limit: limit, showsPayload: showPayload)
        do {
            try await topic.read { letters in
                for letter in letters where selection.contains(letter) { list.add(letter) }
                return true
            }
        } catch {
            throw StartFailure.report([KafkaFault(error)])
        }
        if json {
            for line in list.json { printOutput(line) }
        } else {
            printOutput(list.text)
        }
    }
}
