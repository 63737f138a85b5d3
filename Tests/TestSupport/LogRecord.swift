// SPDX-License-Identifier: Apache-2.0

import InMemoryLogging
package import Logging
package import Logs

package final class LogRecord: Sendable {
    /// A log line of the catalogue.
    package struct Line: Sendable {
        package let event: String
        package let level: Logger.Level
        package let fields: [String: LogValue]
    }

    private let handler: InMemoryLogHandler

    package init(level: Logger.Level = .debug) {
        var handler = InMemoryLogHandler()
        handler.logLevel = level
        self.handler = handler
    }

    package var logger: Logger {
        Logger(label: "test") { [handler] _ in handler }
    }

    package var lines: [Line] {
        handler.entries.compactMap { entry in
            guard let event = entry.metadata["event"] else { return nil }
            var fields: [String: LogValue] = [:]
            for case (let name, .stringConvertible(let value)) in entry.metadata { fields[name] = value as? LogValue }
            return Line(event: "\(event)", level: entry.level, fields: fields)
        }
    }

    package func lines(_ event: LoggedEvent) -> [Line] {
        lines.filter { $0.event == event.name }
    }

    package var events: [String] { lines.map(\.event) }

    /// The values of a field, from the lines that have it.
    package func values(_ field: String) -> [String] {
        lines.compactMap { $0.fields[field].map { "\($0)" } }
    }

    /// Every log message with its metadata, including those of libraries.
    package var texts: [String] { handler.entries.map { "\($0.message) \($0.metadata)" } }
}
