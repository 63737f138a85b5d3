// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import Synchronization

/// What was logged, by event.
final class LogRecord: Sendable {
    struct Line: Sendable {
        let event: String
        let level: Logger.Level
        let fields: [String: LogValue]
    }

    private let recorded = Mutex<[Line]>([])
    private let level: Logger.Level

    /// Whether a worker that logs here writes its figures.
    let isReporting: Bool

    init(level: Logger.Level = .debug, isReporting: Bool = false) {
        self.level = level
        self.isReporting = isReporting
    }

    var logger: Logger {
        Logger(label: "test") { _ in Handler(record: self, logLevel: level) }
    }

    var lines: [Line] { recorded.withLock(\.self) }

    func lines(_ event: LoggedEvent) -> [Line] {
        lines.filter { $0.event == event.name }
    }

    private struct Handler: LogHandler {
        let record: LogRecord
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        init(record: LogRecord, logLevel: Logger.Level) {
            self.record = record
            self.logLevel = logLevel
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            var fields: [String: LogValue] = [:]
            for case (let name, .stringConvertible(let value)) in event.metadata ?? [:] {
                fields[name] = value as? LogValue
            }
            let name = event.metadata?["event"].map { "\($0)" } ?? ""
            record.recorded.withLock { $0.append(Line(event: name, level: event.level, fields: fields)) }
        }
    }
}
