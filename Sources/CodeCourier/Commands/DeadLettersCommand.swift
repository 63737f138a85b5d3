// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
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
