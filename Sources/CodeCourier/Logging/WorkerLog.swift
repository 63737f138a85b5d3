// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import KafkaClient
import Logging
import Logs
import PostgresClient
import ServiceLifecycle

/// The log of a worker: JSON lines for machines, short text for people.
enum WorkerLog {
    /// The host and the process id, which identify a worker of the fleet.
    static let workerID: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "host-\(getpid())" }
        let host = name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return "\(String(decoding: host, as: UTF8.self))-\(getpid())"
    }()

    static let service = LogService(version: Version.text, instance: workerID)

    /// Creates the worker's logger on standard output.
    ///
    /// Colours are used on a terminal, unless `NO_COLOR` is set to anything (no-color.org). SIGPIPE is ignored, because
    /// a log reader that exits must not end the worker.
    static func start(_ settings: LogSettings, environment: [String: String]) -> Logger {
        signal(SIGPIPE, SIG_IGN)
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let output = LogOutput(
            format: settings.format ?? (isTerminal ? .text : .json),
            isColored: isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb",
            service: service
        )
        return output.logger(level: settings.level)
    }
}

// Errors whose descriptions may be logged: they hold only SQLSTATEs, codes, and names of tables, options and calls.

extension KafkaError: LoggableError {}
extension PostgresError: LoggableError {}
extension HealthFile.Failure: LoggableError {}
extension ServiceManager.Failure: LoggableError {}
extension ServiceGroupError: LoggableError {}
