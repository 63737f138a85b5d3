// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging

/// The catalogue of events as documents: `docs/log-events.md` for people and `schemas/log-events.json` for programs.
package enum LogCatalogue {
    /// The version, raised with every change of an event or a field.
    package static let version = 14

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

    /// The catalogue for people, by severity.
    package static var page: String {
        """
        # Log events

        <!-- Written by `code-courier log-events --page`; the source is Sources/Logs/Catalogue. -->

        Log lines are an interface: names keep their meaning and type, and fields are only added. This is version
        \(version) of the catalogue; programs read [`schemas/log-events.json`](../schemas/log-events.json), which has
        the types, too. With `log.format: json` a line is one flat object, with `otel` one OTLP document, for the
        OpenTelemetry collector's `otlpjsonfile`. No line holds a code, a full number or address, or a text of a
        provider or database.

        Every line has:

        \(lines(of: common.map { ($0.name, $0.explanation) }))

        and of the fields in parentheses those that are known. Events with `request.id` or `send.id` also have
        `trace_id` and `span_id`.

        - ¹ At most five similar lines in ten seconds; `log.suppressed` counts the rest.
        - ² The consumer of receipts has the same event: `receipts.…`
        - ↻ Repeated at this interval while it lasts.

        \(Logger.Level.allCases.reversed().compactMap(section).joined(separator: "\n\n"))

        ## Fields

        Where the name does not say it all; `…_ms` are milliseconds:

        \(lines(of: LogField.allCases.filter { !$0.isObvious && !LoggedEvent.workerStats.fields.contains($0) }))

        ## Fields of worker.stats

        \(lines(of: LoggedEvent.workerStats.fields))

        """
    }

    /// The events of one severity under its heading; nil if there are none.
    private static func section(of level: Logger.Level) -> String? {
        let receipts = LoggedEvent.Consumer.receipts.all.map(\.name)
        let events = events.filter { $0.level == level && !receipts.contains($0.name) }
        guard !events.isEmpty else { return nil }
        return (["## \(level.rawValue)", ""] + events.map(line)).joined(separator: "\n")
    }

    private static func line(of event: LoggedEvent) -> String {
        let isTwin = LoggedEvent.Consumer.requests.all.contains { $0.name == event.name }
        let marks = (event.throttledBy == nil ? "" : " ¹") + (isTwin ? " ²" : "")
        let interval = event.interval.map { " ↻ \($0.components.seconds) s" } ?? ""
        let fields =
            event.name == LoggedEvent.workerStats.name
            ? "[below](#fields-of-workerstats)"
            : event.fields.filter { $0 != .traceID && $0 != .spanID }.map { "`\($0.rawValue)`" }.joined(separator: " ")
        return "- `\(event.name)`\(marks): \(event.message)\(interval)" + (fields.isEmpty ? "" : " (\(fields))")
    }

    private static func lines(of fields: [LogField]) -> String {
        lines(of: fields.map { ($0.rawValue, $0.explanation) })
    }

    private static func lines(of fields: [(name: String, explanation: String)]) -> String {
        fields.map { "- `\($0.name)`: \($0.explanation)" }.joined(separator: "\n")
    }

    private static func entry(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object(body)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
