// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KafkaClient
import Verification

struct DeadLettersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Shows the records that could not be read, and why.",
        discussion: """
            It belongs to no consumer group and changes nothing. With --json each line is a
            JSON object.

              code-courier dead-letters list --since 1h --reason not_json

            Next: put right what made them, then code-courier dead-letters redrive.

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
