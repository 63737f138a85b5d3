// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestTools
import Testing
import Verification

@Suite struct RuleHistoryTests {
    /// Number of histories; `COURIER_TEST_HISTORIES` overrides it.
    private static let count = getenv("COURIER_TEST_HISTORIES").flatMap { Int(String(cString: $0)) } ?? 2000

    private static let groupSize = 50

    /// The reasons that random histories must cover, each of them often.
    private static let expected: Set<String> = [
        "nothing", "duplicate_request", "request_id_conflict", "invalid_request", "invalid_phone_number",
        "unknown_tenant", "stale_request", "deadline", "test_number_only", "region_not_allowed",
        "region_confirmed_only", "number_type_not_allowed", "app_verification_required", "app_verification_failed",
        "resend_window", "send_pending", "locked", "max_sends", "quota_recipient", "quota_ip", "quota_subject",
        "quota_device", "quota_tenant", "sent",
        "expired",
        "provider_unavailable", "no_route", "provider_refused", "fraud_blocked_by_provider", "timeout", "worker_lost",
    ]

    @Test(arguments: 0..<2)
    func `the set-based ledger decides every random history as a naive model does`(half: Int) async throws {
        let base = TestSeed("rule histories \(half)").seed &+ UInt64(half) &* 1_000_003
        try await ClockedDatabase.with(connections: 1) { clocked in
            var reasons: [String: Int] = [:]
            var records = 0
            let groups = max(1, Self.count / Self.groupSize / 2)
            for index in 0..<groups {
                var group = HistoryGroup(
                    "g\(half).\(index)",
                    count: Self.groupSize,
                    seed: base &+ UInt64(index),
                    in: clocked
                )
                try await group.run(steps: 7)
                reasons.merge(group.reasons, uniquingKeysWith: +)
                records += group.recordCount
            }
            print("rule histories \(half): \(groups * Self.groupSize) histories, \(records) records, \(reasons)")
            if groups >= 20 { #expect(Self.expected.subtracting(reasons.keys).isEmpty) }
        }
    }
}
