// SPDX-License-Identifier: Apache-2.0

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
