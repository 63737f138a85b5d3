// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Verification

/// Turns of providers without a database: as many in each span of a limit as it allows.
final class MemoryRates: ProviderRates {
    private let spans = Mutex<[String: (start: ContinuousClock.Instant, used: Int)]>([:])

    func takeTurns(_ wanted: [String: TurnRequest]) async throws -> [String: TurnGrant] {
        spans.withLock { spans in
            var grants: [String: TurnGrant] = [:]
            for (name, request) in wanted {
                var span = spans[name] ?? (.now, 0)
                if ContinuousClock.now - span.start >= request.rate.per { span = (.now, 0) }
                let count = min(request.count, max(0, request.rate.count - span.used))
                span.used += count
                spans[name] = span
                grants[name] = TurnGrant(count: count, nextAfter: .milliseconds(20))
            }
            return grants
        }
    }
}
