// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
package import Logging
import Synchronization

/// The log output of a process: one writer and one throttle for all of its loggers.
package final class LogOutput: Sendable {
    private struct State {
        var writer: LineWriter
        var throttle = LogThrottle()
    }

    private let state: Mutex<State>
    private let format: LogFormat
    private let isColored: Bool
    private let service: LogService

    /// Creates an output to a file descriptor, which the caller must keep open.
    package init(
        descriptor: Int32 = STDOUT_FILENO,
        format: LogFormat,
        isColored: Bool = false,
        service: LogService
    ) {
        state = Mutex(State(writer: LineWriter(descriptor: descriptor)))
        self.format = format
        self.isColored = isColored
        self.service = service
    }

    /// Creates a logger for this output with a minimum level.
    package func logger(level: Logger.Level) -> Logger {
        Logger(label: "code-courier") { _ in LineLogHandler(output: self, logLevel: level) }
    }

    /// Writes a line, unless the throttle suppresses it.
    func write(_ event: LoggedEvent, fields: [LogMember]) {
        write(line(event, fields), of: event)
    }

    /// Writes a library's message, which has its own severity.
    func write(message: String, level: Logger.Level) {
        let event = LoggedEvent.libraryMessage
        write(LogLine(time: .now, level: level, event: event, message: message, fields: [worker]), of: event)
    }

    private func write(_ line: LogLine, of event: LoggedEvent) {
        let bytes = line.bytes(format, isColored: isColored, service: service)
        let key = event.throttledBy.map { alike in
            LogThrottle.Key(
                event: event.name,
                values: alike.map { field in
                    line.fields.first { $0.name == field.rawValue }.map(\.value.description) ?? ""
                }
            )
        }
        state.withLock { state in
            writeNotes(&state)
            if let key, !state.throttle.passes(key, at: .now) { return }
            state.writer.write(bytes)
        }
    }

    /// Reports dropped and suppressed lines as soon as possible.
    private func writeNotes(_ state: inout State) {
        state.writer.writeDropped { count in
            bytes(.logDropped, [LogMember(LogField.dropped.rawValue, LogValue(count))])
        }
        for (key, count) in state.throttle.ended(at: .now) {
            let alike = LoggedEvent.named[key.event]?.throttledBy ?? []
            let fields = [
                LogMember(LogField.logEvent.rawValue, .text(key.event)),
                LogMember(LogField.suppressed.rawValue, LogValue(count)),
            ]
            let values = zip(alike, key.values).map { LogMember($0.rawValue, .text($1)) }
            state.writer.write(bytes(.logSuppressed, fields + values))
        }
    }

    private func bytes(_ event: LoggedEvent, _ fields: [LogMember]) -> [UInt8] {
        line(event, fields).bytes(format, isColored: isColored, service: service)
    }

    private func line(_ event: LoggedEvent, _ fields: [LogMember]) -> LogLine {
        LogLine(time: .now, event: event, fields: fields + [worker])
    }

    /// The field of every line that tells which worker of the fleet wrote it.
    private var worker: LogMember { LogMember(LogLine.workerID, .text(service.instance)) }
}

/// The format of the log.
package enum LogFormat: String, Sendable, CaseIterable {
    /// One flat JSON object a line.
    case json

    /// One OTLP JSON document with one log record a line, as OpenTelemetry's file exporter writes it.
    case otel

    /// Text for people.
    case text
}
