// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import KafkaClient
import KafkaTools
import UnixSignals
import Verification

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
                  code-courier events tail --since 2h --until-now --request-id signup-4711
                  code-courier events tail --status failed --status expired_unsent --json

                A terminal that is too narrow gets the time of day and the last six
                characters of the ids, first the request's, and no provider if there is no
                room; a pipe has the whole line.

                An event has to match all of --request-id, --verification, --phone and
                --status. --phone needs keys.fingerprint, the workers' whole ring.
                """
        )

        @OptionGroup var kafka: KafkaOptions

        @Flag(help: "Begin with the oldest event that the topic holds, not with the next.")
        var fromBeginning = false

        @Option(help: "Begin at this time: 2h, 7d, 2026-11-20T12:00:00Z, beginning.")
        var since = TimeArgument.now

        @Flag(help: "End with the last event that is there now.")
        var untilNow = false

        @Option(help: "Only events of this request.")
        var requestId: String?

        @Option(help: "Only events of this verification.")
        var verification: String?

        @Option(help: "Only events of this phone number; - asks for it.")
        var phone: String?

        @Option(help: "Only events with this status; may be repeated.")
        var status: [DeliveryStatus] = []

        @Flag(help: "Print the events' JSON.")
        var json = false

        func validate() throws {
            guard !fromBeginning || since == .now else { throw ValidationError("give --since or --from-beginning") }
        }

        func run() async throws {
            let settings = try kafka.settings()
            let filter = try filter()
            do {
                let reader = try await TopicReader.open(
                    configuration: settings.client,
                    topic: settings.topics.deliveries,
                    from: fromBeginning ? .beginning : since.start
                )
                try await untilInterrupted(by: [.sigint, .sigterm], otherwise: ()) { [json, untilNow] in
                    try await Self.follow(reader, filter, json: json, untilNow: untilNow)
                }
                await reader.close()
            } catch {
                throw StartFailure.report([KafkaFault(error)])
            }
        }

        private func filter() throws -> EventFilter {
            var filter = EventFilter(requestID: requestId, verificationID: verification)
            filter.statuses = Set(status.map(\.rawValue))
            if let phone {
                guard let number = PhoneArgument.parse(try PersonArgument.text(phone, "phone number")) else {
                    throw StartFailure.report(["--phone must be + and digits"])
                }
                let keys = try kafka.options.read(KeySettings.readFingerprint)
                filter.fingerprints = Set(keys.all.map { hexadecimal(Recipient.phone(number).fingerprint(key: $0)) })
            }
            return filter
        }

        private static func follow(
            _ reader: TopicReader,
            _ filter: EventFilter,
            json: Bool,
            untilNow: Bool
        ) async throws {
            let style = OutputStyle.current
            while !Task.isCancelled {
                let isAtEnd = await reader.reachedEnd
                // Some brokers understate the end of a partition until its last batch is fetched.
                let pause: Duration = untilNow && isAtEnd ? .seconds(1) : .milliseconds(200)
                let records = try await reader.next(maximum: 500, within: pause)
                for record in records {
                    guard let value = record.value else { continue }
                    let event = EventLine(value)
                    guard filter.contains(event) else { continue }
                    if json { printOutput(value) } else { printOutput([event.text(width: style.width)]) }
                }
                if untilNow, isAtEnd, records.isEmpty { return }
            }
        }
    }
}

/// Selects events: those that match every set condition.
struct EventFilter: Sendable {
    var requestID: String?
    var verificationID: String?
    var statuses: Set<String> = []

    /// The recipient's keyed digests under every key of the ring, in hexadecimal.
    var fingerprints: Set<String> = []

    func contains(_ event: EventLine) -> Bool {
        (requestID == nil || event.requestID == requestID)
            && (verificationID == nil || event.verificationID == verificationID)
            && (statuses.isEmpty || event.status.map(statuses.contains) ?? false)
            && (fingerprints.isEmpty || event.fingerprint.map(fingerprints.contains) ?? false)
    }
}

extension TimeArgument {
    fileprivate var start: TopicReader.Start {
        if self == .now { return .end }
        return time(before: Timestamp.now).map { .timestamp($0.milliseconds) } ?? .beginning
    }
}

extension DeliveryStatus: ExpressibleByArgument {}
