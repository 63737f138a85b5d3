// SPDX-License-Identifier: Apache-2.0

import Logging
import Verification

/// The catalogue of events as documents: `docs/log-events.md` for people and `schemas/log-events.json` for programs.
package enum LogCatalogue {
    /// The version, raised with every change of an event or a field.
    package static let version = 7

    /// The fields of every line.
    private static let common: [(name: String, explanation: String)] = [
        ("timestamp", "RFC 3339 in UTC with microseconds"),
        ("severity", "`trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`"),
        ("event", "the name of the event, which never changes its meaning"),
        ("message", "the same text in every line of the event; a library's own words in `library.message`"),
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
        let common = common.map { "| `\($0.name)` | \($0.explanation) |" }
        let events = events.map { event in
            let fields = event.fields.map { "`\($0.rawValue)`" }.joined(separator: " ")
            let name = event.throttledBy == nil ? "`\(event.name)`" : "`\(event.name)` ¹"
            let again = event.interval.map { "; again every \($0.components.seconds) s while it lasts" } ?? ""
            return "| \(name) | \(event.level.rawValue) | \(event.message)\(again) | \(fields) |"
        }
        let fields = LogField.allCases.map { "| `\($0.rawValue)` | \($0.type) | \($0.explanation) |" }
        return """
            # Log events

            <!-- Written by `code-courier log-events --page`; the source is Sources/Logs/Catalogue. -->

            The lines of a worker are an interface: a name keeps its meaning and its type, and fields are only added.
            This is version \(version) of the catalogue; [`schemas/log-events.json`](../schemas/log-events.json) says the same to programs.

            `log.level` (`info`), `log.format` (`json` on a pipe, `text` on a terminal, or `otel`) and `log.statsInterval`
            (`10s`) set what is written. With `json` a line is one flat object; with `otel` it is one OTLP document, as
            OpenTelemetry's collector reads it from a file (`otlpjsonfile`). No line holds a code, a whole number or
            address, or a provider's or a database's own text.

            Every line has

            | field | |
            |---|---|
            \(common.joined(separator: "\n"))

            and those of its event, as far as they are known:

            | event | severity | message | fields |
            |---|---|---|---|
            \(events.joined(separator: "\n"))

            ¹ Of lines that are alike five in ten seconds are written; `log.suppressed` then tells how many were not.

            | field | type | |
            |---|---|---|
            \(fields.joined(separator: "\n"))

            """
    }

    private static func entry(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object(body)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
