// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Verification

/// Rate-limit tokens without a database: none while closed, then as many as requested.
final class MemoryRates: ProviderRates {
    private let isOpen = Mutex(true)

    func close() {
        isOpen.withLock { $0 = false }
    }

    func open() {
        isOpen.withLock { $0 = true }
    }

    func takeTokens(_ wanted: [String: TokenRequest]) async throws -> [String: TokenGrant] {
        let isOpen = isOpen.withLock(\.self)
        return wanted.mapValues { TokenGrant(count: isOpen ? $0.count : 0, nextAfter: .milliseconds(20)) }
    }
}
