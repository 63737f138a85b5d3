// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import TestTools
import Testing

package struct Worker: Sendable {
    package let program: Program

    package var logged: [String] { entries.map(\.event) }

    /// The log entries; each line must be a JSON object with the common fields.
    package var entries: [LogEntry] {
        program.lines.compactMap { Self.entry($0) }
    }

    /// The last lines of both outputs, for a failure's message.
    package var said: String {
        (program.lines.suffix(20) + program.errorLines.suffix(20)).joined(separator: "\n")
    }

    /// Decodes the log lines that have the fields of a type, of one event or of all.
    package func lines<Fields: Decodable>(of event: String? = nil, as _: Fields.Type) -> [Fields] {
        program.lines.filter { event == nil || Self.entry($0)?.event == event }.compactMap {
            try? JSONDecoder().decode(Fields.self, from: Data($0.utf8))
        }
    }

    /// Decodes one line; nil for a line that is no entry.
    package static func entry(_ line: String) -> LogEntry? {
        try? JSONDecoder().decode(LogEntry.self, from: Data(line.utf8))
    }

    /// Waits until the worker has logged an event a number of times.
    package func waitForLog(_ event: String, times: Int = 1, within limit: Duration = .seconds(30)) async throws {
        try await eventually("the worker logs \(event)", within: limit) {
            guard program.isRunning else { throw Ended(output: program.output, errors: program.errors) }
            return logged.count { $0 == event } >= times
        }
    }

    /// Stops the worker as an orchestrator does, and expects it to end by itself.
    ///
    /// A worker with unfinished work takes all of its drain timeout, 25 s.
    package func stop() async throws {
        program.send(15)
        let exit = try await program.exit()
        #expect(exit == .code(0), "\(said)")
    }

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

package struct LogEntry: Decodable, Sendable {
    package let timestamp: String
    package let severity: String
    package let event: String
    package let message: String
    package let fault: String?
}
