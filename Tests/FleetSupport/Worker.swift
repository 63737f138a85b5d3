// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import TestTools
import Testing

/// A worker process.
package struct Worker: Sendable {
    package let program: Program

    /// The names of the events that it has logged.
    package var logged: [String] { entries.map(\.event) }

    /// What it has logged; each line must be a JSON object with the fields that every line has.
    package var entries: [LogEntry] {
        program.lines.compactMap { Self.entry($0) }
    }

    /// Its last lines on both outputs, for a failure's message.
    package var said: String {
        (program.lines.suffix(20) + program.errorLines.suffix(20)).joined(separator: "\n")
    }

    /// The fields of the lines that have them, as a test names them; of all events if none is named.
    package func lines<Fields: Decodable>(of event: String? = nil, as _: Fields.Type) -> [Fields] {
        program.lines.filter { event == nil || Self.entry($0)?.event == event }.compactMap {
            try? JSONDecoder().decode(Fields.self, from: Data($0.utf8))
        }
    }

    /// What one line says; nil for a line that is no entry.
    package static func entry(_ line: String) -> LogEntry? {
        try? JSONDecoder().decode(LogEntry.self, from: Data(line.utf8))
    }

    /// Waits until it has logged an event so many times.
    package func waitForLog(_ event: String, times: Int = 1, within limit: Duration = .seconds(30)) async throws {
        try await eventually("the worker logs \(event)", within: limit) {
            guard program.isRunning else { throw Ended(output: program.output, errors: program.errors) }
            return logged.count { $0 == event } >= times
        }
    }

    /// Stops it as an orchestrator does, and expects it to end well within the time it is given.
    package func stop() async throws {
        program.send(15)
        let exit = try await program.exit(within: .seconds(25))
        #expect(exit == .code(0), "\(said)")
    }

    /// Ends it at once, as a crash does.
    package func crash() async throws {
        program.send(9)
        let exit = try await program.exit()
        #expect(exit == .signal(9))
    }

    package struct Ended: Error {
        let output: String
        let errors: String
    }
}

/// One line of a worker's log.
package struct LogEntry: Decodable, Sendable {
    package let timestamp: String
    package let severity: String
    package let event: String
    package let message: String
    package let fault: String?
}
