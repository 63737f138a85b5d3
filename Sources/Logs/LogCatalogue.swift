// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging

/// The catalogue of events as documents: `docs/log-events.md` for people and `schemas/log-events.json` for programs.
package enum LogCatalogue {
    /// The version, raised with every change of an event or a field.
    package static let version = 11

    /// The fields of every line.
    private static let common: [(name: String, explanation: String)] = [
        ("timestamp", "RFC 3339 in UTC, with microseconds"),
        ("severity", "`trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`"),
        ("event", "stable name of the event"),
        ("message", "constant text of the event, or a library's own words in `library.message`"),
        (LogLine.workerID, "host and process id of the worker"),
    ]

    /// The events sorted by name.
    private static var events: [LoggedEvent] { LoggedEvent.all.sorted { $0.name < $1.name } }

    /// The catalogue for programs, one entry a line.
    package static var json: String {
        let fields = LogField.allCases.map { field in
            entry {
                $0.member("name", field.rawValue)
                $0.member("type", field.type)
                $0.member("description", field.explanation)
            }
        }
        let common = common.map { field in
            entry {
                $0.member("name", field.name)
                $0.member("type", "string")
                $0.member("description", field.explanation)
            }
        }
        let events = events.map { event in
            entry { writer in
                writer.member("event", event.name)
                writer.member("severity", event.level.rawValue)
                writer.member("message", event.message)
                writer.array("fields") { list in
                    for field in event.fields { list.element(field.rawValue) }
                }
                writer.member("throttled", event.throttledBy != nil)
                writer.member("again_s", ifPresent: event.interval?.components.seconds)
            }
        }
        return """
            {"version":\(version),"common":[
            \(common.joined(separator: ",\n"))
            ],"fields":[
            \(fields.joined(separator: ",\n"))
            ],"events":[
            \(events.joined(separator: ",\n"))
            ]}

            """
    }

    /// The catalogue for people.
    package static var page: String {
        """
        # Log events

        <!-- Written by `code-courier log-events --page`; the source is Sources/Logs/Catalogue. -->

        Log lines are an interface: names keep their meaning and type, and fields are only added. This is version
        \(version) of the catalogue; programs read [`schemas/log-events.json`](../schemas/log-events.json).

        With `log.format: json` a line is one flat object, with `otel` one OTLP document, for the OpenTelemetry
        collector's `otlpjsonfile`. No line holds a code, a full number or address, or a text of a provider or
        database.

        Every line has:

        \(commonLines.joined(separator: "\n"))

        and the fields of its event, where known. In rows of two events, `kafka.…` is the requests
        consumer's, `receipts.…` the receipts consumer's:

        | event | severity | message | fields |
        |---|---|---|---|
        \(eventRows.joined(separator: "\n"))

        ¹ At most five similar lines in ten seconds; `log.suppressed` counts the rest.

        Fields are strings unless a type is given; `…_ms` are milliseconds:

        \(fieldLines.joined(separator: "\n"))

        """
    }

    private static var commonLines: [String] { common.map { "- `\($0.name)`: \($0.explanation)" } }

    private static var eventRows: [String] {
        // The consumers of requests and of receipts have the same events, so one row shows both names.
        let twins = Dictionary(
            uniqueKeysWithValues: zip(
                LoggedEvent.Consumer.requests.all.map(\.name),
                LoggedEvent.Consumer.receipts.all.map(\.name)
            )
        )
        return events.filter { !twins.values.contains($0.name) }.map { event in
            let fields = event.fields.map { "`\($0.rawValue)`" }.joined(separator: " ")
            let twin = twins[event.name].map { " `\($0)`" } ?? ""
            let mark = event.throttledBy == nil ? "" : " ¹"
            let again = event.interval.map { "; repeated every \($0.components.seconds) s" } ?? ""
            return "| `\(event.name)`\(twin)\(mark) | \(event.level.rawValue) | \(event.message)\(again) | \(fields) |"
        }
    }

    private static var fieldLines: [String] {
        LogField.allCases.map { field in
            let type = field.type == "string" ? "" : " (\(field.type))"
            return "- `\(field.rawValue)`\(type): \(field.explanation)"
        }
    }

    private static func entry(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object(body)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
