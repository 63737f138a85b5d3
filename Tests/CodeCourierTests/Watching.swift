// SPDX-License-Identifier: Apache-2.0

@testable import CodeCourier

/// Watches a loader's files at a short interval while the body changes them.
func watching(_ loader: any FileLoader, _ body: () async throws -> Void) async throws {
    let reload = Reload(by: loader, interval: .milliseconds(5))
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await reload.run() }
        defer { group.cancelAll() }
        try await body()
    }
}
