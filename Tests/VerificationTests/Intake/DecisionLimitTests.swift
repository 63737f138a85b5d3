// SPDX-License-Identifier: Apache-2.0

import Formats
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

    @Test func `a refusal by a limit says when there is room again, and names the verification of a resend`() throws {
        var tables = DecisionTables {
            $0.limits.perRecipient = [RateLimit(count: 2, per: .seconds(3600)), RateLimit(count: 9, per: .seconds(10))]
        }
        var ledger = MemoryLedger()
        func decide(_ id: String, _ purpose: String, _ offset: Int64) -> IntakeChanges {
            let candidate = tables.candidate(.request(id: id, purpose: purpose, offset: offset, at: tables.now))
            let requests = [candidate.key: KnownRequest(of: candidate)]
            return ledger.decide([candidate], by: .test(tables.policy), requests: requests, at: tables.now)
        }
        let first = tables.now
        let claim = try #require(decide("r1", "sign_in", 0).sends.first)
        let end = SendResult(send: claim.reference, disposition: .sent, attempts: 1, attempt: nil)
        _ = ledger.settle([end], at: tables.now, source: "/test")
        tables.now = first + .seconds(60)
        #expect(decide("r2", "sign_up", 1).sends.count == 1)

        let other = try #require(decide("r3", "account_link", 2).events.first)
        #expect(other.reason == "quota_recipient" && other.verificationID == nil)
        let resend = try #require(decide("r4", "sign_in", 3).events.first)
        #expect(resend.reason == "quota_recipient")
        #expect(resend.verificationID == claim.reference.verificationID.description)
        let opening = first + .seconds(3600)
        #expect([other, resend].map { $0.text("retryAfter") } == [opening.rfc3339, opening.rfc3339])
        tables.now = opening - .microseconds(1)
        #expect(decide("r5", "account_link", 4).sends.isEmpty)
        tables.now = opening
        #expect(decide("r6", "account_link", 5).sends.count == 1)
    }

    @Test func `what no limit counts has no window, for which batches would wait`() {
        let more = #","subject":"a","client":{"ip":"192.0.2.1","deviceId":"d"}"#
        for scopes in [[], [.ip], [.subject], [.device], [.ip, .subject, .device]] as [[LimitKey.Scope]] {
            var tables = DecisionTables {
                for scope in scopes { $0.limits[scope] = [RateLimit(count: 1, per: .seconds(60))] }
            }
            let changes = tables.intake(.request(id: "r", at: tables.now, more: more))
            #expect(changes.sends.count == 1)
            #expect(Set(changes.windows.keys.map(\.scope)) == Set(scopes))
        }
    }

    @Test func `the key of a window does not give away its subject or device, and differs by key, tenant and scope`() {
        func digests(_ text: String, _ ring: CodeKeys, tenant: String = "default") -> [UUIDValue] {
            var tables = DecisionTables(keys: ring) {
                for scope in [.subject, .device] as [LimitKey.Scope] {
                    $0.limits[scope] = [RateLimit(count: 1, per: .seconds(60))]
                }
            }
            let more = #","subject":"\#(text)","client":{"deviceId":"\#(text)"}"#
            let changes = tables.intake(.request(id: "r", at: tables.now, more: more))
            return changes.windows.keys.sorted { $0.scope.rawValue < $1.scope.rawValue }.map(\.digest)
        }
        let one = digests("a", .test)
        #expect(one.count == 2 && one == digests("a", .test))
        #expect(Set(one + digests("b", .test)).count == 4)
    }
}
