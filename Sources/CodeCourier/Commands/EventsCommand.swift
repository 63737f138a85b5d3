// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import KafkaClient
import KafkaTools
import UnixSignals

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Looks at delivery events.",
        subcommands: [Tail.self]
    )

    struct Tail: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "tail",
            abstract: "Prints delivery events as they come, one a line; Ctrl-C ends it.",
            discussion: """
                It belongs to no consumer group and changes nothing. With --json each line is
                the event's value, as schemas/kafka/delivery.schema.json describes it.

                  code-courier events tail --config courier.yaml
                  code-courier events tail --from-beginning --json | grep '"rejected"'
                """
        )

        @OptionGroup var kafka: KafkaOptions

        @Flag(help: "Begin with the oldest event that the topic holds, not with the next.")
        var fromBeginning = false

        @Flag(help: "Print the events' JSON.")
        var json = false

        func run() async throws {
            let settings = try kafka.settings()
            do {
                let reader = try await TopicReader.open(
                    configuration: settings.client,
                    topic: settings.topics.deliveries,
                    from: fromBeginning ? .beginning : .end
                )
                try await untilInterrupted(by: [.sigint, .sigterm], otherwise: ()) { [json] in
                    try await Self.follow(reader, json: json)
                }
                await reader.close()
            } catch {
                throw StartFailure.report([KafkaFault(error)])
            }
        }

        private static func follow(_ reader: TopicReader, json: Bool) async throws {
            while !Task.isCancelled {
                for record in try await reader.next(maximum: 500, within: .milliseconds(200)) {
                    guard let value = record.value else { continue }
                    let line = json ? value : Array(EventLine(value).text.utf8)
                    printOutput(line)
                }
            }
        }
    }
}
