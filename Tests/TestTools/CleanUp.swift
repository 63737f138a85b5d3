// SPDX-License-Identifier: Apache-2.0

/// Runs a body and then its cleanup, whatever the body's result.
///
/// If both fail it throws the body's error, which is more useful.
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
