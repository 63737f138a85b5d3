// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

/// Tests the limits of a whole tenant within one batch.
@Suite struct DecisionLimitTests {
    /// Number of sends for ten people in one batch.
    private func sends(_ limits: [RateLimit]) -> Int {
        var tables = DecisionTables { $0.limits.perTenant = limits }
        let records = (0..<10).map { index in
            InboundRecord.request(
                id: "r\(index)",
                phoneNumber: "+491512345678\(index)",
                offset: Int64(index),
                at: tables.now
            )
        }
        return tables.intake(tables.candidates(records)).sends.count
    }

    private let four = RateLimit(count: 4, per: .seconds(60))
    private let five = RateLimit(count: 5, per: .seconds(60))

    @Test func `a batch is let through up to the limit`() {
        #expect(sends([four]) == 4)
        #expect(sends([five, four]) == 4)
    }

    @Test func `a limit that stands twice counts each request once`() {
        #expect(sends([four, four]) == 4)
    }

    @Test func `what no limit counts has no window, for which batches would wait`() {
        let client = #","client":{"ip":"192.0.2.1"}"#
        for (isLimited, scopes) in [(true, [LimitKey.Scope.ip]), (false, [])] {
            var tables = DecisionTables {
                $0.limits.perIP = isLimited ? [RateLimit(count: 1, per: .seconds(60))] : []
            }
            let changes = tables.intake(.request(id: "r", at: tables.now, more: client))
            #expect(changes.sends.count == 1)
            #expect(changes.windows.keys.map(\.scope) == scopes)
        }
    }
}
