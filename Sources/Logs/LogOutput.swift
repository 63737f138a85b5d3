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

    /// The field of every line that names the worker of the fleet.
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

/// Connects swift-log to an output; a message without an event of the catalogue is a library's.
struct LineLogHandler: LogHandler {
    let output: LogOutput
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    init(output: LogOutput, logLevel: Logger.Level) {
        self.output = output
        self.logLevel = logLevel
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event line: LogEvent) {
        guard case .string(let name)? = line.metadata?["event"], let event = LoggedEvent.named[name] else {
            output.write(message: "\(line.message)", level: line.level)
            return
        }
        var fields: [LogMember] = []
        for (name, value) in line.metadata ?? [:] {
            guard case .stringConvertible(let value) = value, let value = value as? LogValue else { continue }
            fields.append(LogMember(name, value))
        }
        output.write(event, fields: fields)
    }
}

/// Passes the first similar lines of a time window, counts the rest, and reports their number at its end.
struct LogThrottle {
    typealias Instant = ContinuousClock.Instant

    /// The key of similar lines.
    struct Key: Hashable {
        let event: String
        let values: [String]
    }

    private struct Window {
        let end: Instant
        var passed = 0
        var suppressed = 0
    }

    private let burst: Int
    private let length: Duration
    private let maximumKeys: Int
    private var windows: [Key: Window] = [:]
    private var nextEnd: Instant?

    /// Creates a throttle that passes `burst` lines of each window.
    init(burst: Int = 5, length: Duration = .seconds(10), maximumKeys: Int = 512) {
        self.burst = burst
        self.length = length
        self.maximumKeys = maximumKeys
    }

    /// True when a line passes.
    ///
    /// Beyond `maximumKeys`, all lines of an event share one window.
    mutating func passes(_ key: Key, at now: Instant) -> Bool {
        let key = windows[key] == nil && windows.count >= maximumKeys ? Key(event: key.event, values: []) : key
        var window = windows[key] ?? Window(end: now + length)
        nextEnd = min(nextEnd ?? window.end, window.end)
        if window.passed < burst { window.passed += 1 } else { window.suppressed += 1 }
        windows[key] = window
        return window.suppressed == 0
    }

    /// Removes the windows that are over, and returns those with suppressed lines.
    mutating func ended(at now: Instant) -> [(key: Key, suppressed: Int)] {
        guard let nextEnd, nextEnd <= now else { return [] }
        let over = windows.filter { $0.value.end <= now }
        for key in over.keys { windows[key] = nil }
        self.nextEnd = windows.values.map(\.end).min()
        return over.filter { $0.value.suppressed > 0 }.map { ($0.key, $0.value.suppressed) }
    }
}
