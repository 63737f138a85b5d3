// SPDX-License-Identifier: Apache-2.0

import UnixSignals

/// Runs a body to its end; the first of the signals cancels it, and what it makes of that is the result.
///
/// Before this call a signal ends the process as usual. A body always ends with a value or an error; `otherwise` is what
/// there is without either.
func untilInterrupted<Value: Sendable>(
    by signals: [UnixSignal],
    otherwise: Value,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let signals = await UnixSignalsSequence(trapping: signals)
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            for await _ in signals { break }
            return nil
        }
        while let ended = try await group.next() {
            group.cancelAll()
            if let ended { return ended }
        }
        return otherwise
    }
}
