// SPDX-License-Identifier: Apache-2.0

package import Formats

/// One line of a worker's log, independent of its format.
package struct LogEntry: Sendable {
    package let time: Timestamp
    package let severity: LogSeverity

    /// The stable dotted name, such as `worker.stats`; `log` where a line has none.
    package let event: String

    /// The worker that wrote the line; nil where the line does not name it.
    package let worker: String?
    package let fields: JSONObject

    /// True for the last line of a worker that was stopped by a signal.
    var isWorkerEnd: Bool { ["worker.stopped", "worker.drain_timeout", "worker.ended"].contains(event) }

    init?(time: Timestamp, severity: LogSeverity, event: String?, worker: String? = nil, fields: JSONObject) {
        guard Self.believable.contains(time) else { return nil }
        self.time = time
        self.severity = severity
        self.event = (event ?? "log").cut
        self.worker = (fields.text("worker.id") ?? worker)?.cut
        self.fields = fields
    }

    /// The years 2020 to 2099: one line with an absurd time would stretch every chart to nothing.
    private static let believable =
        Timestamp(microseconds: 1_577_836_800_000_000)...Timestamp(microseconds: 4_102_444_800_000_000)
}

/// The severity of a line, in the order of swift-log's levels.
package enum LogSeverity: Int, Sendable, Comparable, CaseIterable {
    case trace
    case debug
    case info
    case notice
    case warning
    case error
    case critical

    package static func < (left: LogSeverity, right: LogSeverity) -> Bool { left.rawValue < right.rawValue }

    /// The severity of a word; `info` for an unknown one.
    init(word: String) {
        self =
            switch word.lowercased() {
            case "trace": .trace
            case "debug": .debug
            case "notice": .notice
            case "warn", "warning": .warning
            case "error": .error
            case "critical", "fatal": .critical
            default: .info
            }
    }

    /// The severity of an OpenTelemetry number, 1 to 24 in steps of four a level; of 9 to 12, all but 9 are `notice`.
    init(number: Double) {
        self =
            switch number {
            case ..<5: .trace
            case ..<9: .debug
            case ..<10: .info
            case ..<13: .notice
            case ..<17: .warning
            case ..<21: .error
            default: .critical
            }
    }
}

extension String {
    /// The text truncated for storage: names come from outside, and their number times their length is memory.
    var cut: String { cut(64) }

    /// The text with at most so many bytes; 512 hold every text of a worker's line.
    func cut(_ most: Int) -> String {
        utf8.count <= most ? self : String(decoding: utf8.prefix(most - 3), as: UTF8.self) + "..."
    }
}

/// The reason why a log cannot be read.
package enum LogFault: Error, CustomStringConvertible, Equatable {
    /// The file cannot be opened or read; `reason` is the system's message.
    case unreadable(path: String, reason: String)

    /// The log contains no entry in a format for machines.
    case foreign(path: String)

    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .foreign(let path):
            "\(path): no line is a log entry in format json or otel; the format text is for people: set log.format to json"
        }
    }
}
