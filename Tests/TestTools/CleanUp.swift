// SPDX-License-Identifier: Apache-2.0

/// Runs a body, and then what has to follow it whatever became of it; of two errors it throws the body's, which tells
/// more.
package func doing<Result>(
    _ body: () async throws -> Result,
    afterwards cleanUp: () async throws -> Void
) async throws -> Result {
    let result: Result
    do {
        result = try await body()
    } catch {
        try? await cleanUp()
        throw error
    }
    try await cleanUp()
    return result
}
