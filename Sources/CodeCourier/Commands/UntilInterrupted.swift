// SPDX-License-Identifier: Apache-2.0

import UnixSignals

/// Runs a body, cancels it at the first of the signals, and returns its result.
///
/// Before this call a signal ends the process as usual. `otherwise` is the result for the case, impossible in practice,
/// that the body returns neither a value nor an error.
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
