// SPDX-License-Identifier: Apache-2.0

import Ledger
import PostgresClient
import TestSupport
import Verification

/// A worker's use of a ledger, without Kafka and without providers.
struct LedgerWorker: Sendable {
    let ledger: PostgresLedger
    let policy: Policy
    let keys: CodeKeys

    init(_ ledger: PostgresLedger, policy: Policy = .test(), keys: CodeKeys = .test) {
        self.ledger = ledger
        self.policy = policy
        self.keys = keys
    }

    /// The database's clock.
    func now() async throws -> Timestamp {
        let recorded = Box()
        _ = try await ledger.intake([]) { facts in
            recorded.now = facts.now
            return IntakeChanges()
        }
        return recorded.now
    }

    func intake(_ records: [InboundRecord]) async throws -> Recorded<[ClaimedSend]> {
        let screener = Screener(policy: policy, keys: keys, numbers: FixedNumbers())
        let now = try await now()
        let candidates = records.map { screener.candidate(for: $0, now: now) }
        return try await ledger.intake(candidates) { facts in
            IntakeDecision.decide(
                candidates,
                facts: facts,
                policy: policy,
                settings: .init(source: "/test", maxRequestAge: .seconds(300)),
                keys: keys
            )
        }
    }

    /// Marks claims and settles them all alike.
    func settle(_ claims: [ClaimedSend], _ disposition: SendDisposition) async throws -> Recorded<Void> {
        _ = try await ledger.markDispatching(claims)
        return try await ledger.record(claims.map { .init($0, disposition) })
    }

    // SAFETY: written by the one transaction that `now` awaits before it reads.
    private final class Box: @unchecked Sendable {
        var now = Timestamp(microseconds: 0)
    }
}

extension SendResult {
    init(_ claim: ClaimedSend, _ disposition: SendDisposition) {
        self.init(
            send: claim.reference,
            disposition: disposition,
            attempts: 1,
            attempt: Attempt(
                provider: "main",
                messageID: "SM1",
                segments: 1,
                encoding: "GSM-7",
                errorCode: nil
            )
        )
    }
}

extension OutboxRecord {
    var json: JSONObject? {
        guard let value, case .object(let object)? = try? JSONScanner.parse(value) else { return nil }
        return object
    }
}

extension JSONObject {
    func text(_ name: String) -> String? {
        guard case .string(let text)? = self[name] else { return nil }
        return text
    }
}
