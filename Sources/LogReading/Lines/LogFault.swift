// SPDX-License-Identifier: Apache-2.0

/// Why a log cannot be read.
package enum LogFault: Error, CustomStringConvertible, Equatable {
    /// The system's words for why a file cannot be opened or read.
    case unreadable(path: String, reason: String)

    /// Nothing in it is an entry in a format for machines.
    case foreign(path: String)

    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .foreign(let path):
            "\(path): no line is a log entry in format json or otel; the format text is for people: set log.format to json"
        }
    }
}
