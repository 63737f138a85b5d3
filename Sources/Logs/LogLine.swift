// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging

/// One line before it is formatted.
struct LogLine {
    let time: Timestamp
    let level: Logger.Level
    let event: String
    let message: String

    /// Sorted by name; texts are cleaned and truncated.
    let fields: [LogMember]

    /// Creates a line with the event's own severity and message.
    init(time: Timestamp, event: LoggedEvent, fields: [LogMember]) {
        self.init(time: time, level: event.level, event: event, message: event.message, fields: fields)
    }

    /// Creates a line with another severity and message.
    init(time: Timestamp, level: Logger.Level, event: LoggedEvent, message: String, fields: [LogMember]) {
        self.time = time
        self.level = level
        self.event = event.name
        self.message = LogText.clean(message)
        self.fields = fields.map { LogMember($0.name, LogText.clean($0.value)) }.sorted { $0.name < $1.name }
    }

    /// The line's bytes with its line break.
    func bytes(_ format: LogFormat, isColored: Bool, service: LogService) -> [UInt8] {
        var bytes: [UInt8] =
            switch format {
            case .json: json
            case .otel: openTelemetry(service)
            case .text: text(isColored: isColored)
            }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// The name of the field with the worker that wrote the line.
    static let workerID = "worker.id"

    /// The maximum size of a line; container runtimes split lines at 16 KiB.
    static let maximumBytes = 15 * 1024
}

/// The process that writes the log.
package struct LogService: Sendable {
    package let version: String

    /// The host and the process id.
    package let instance: String

    package init(version: String, instance: String) {
        self.version = version
        self.instance = instance
    }
}

extension Timestamp {
    /// The time in UTC with microseconds, such as `2026-11-20T12:34:56.789012Z`.
    var precise: String {
        let digits = String((microseconds % 1000 + 1000) % 1000)
        let padded = String(repeating: "0", count: 3 - digits.utf8.count) + digits
        return rfc3339.dropLast() + padded + "Z"
    }
}
