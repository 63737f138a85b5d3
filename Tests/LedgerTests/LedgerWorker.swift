// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import TestSupport
import TestTools
import Testing
import Verification

@testable import Ledger

/// Drives a ledger as a worker does, without Kafka and providers.
struct LedgerWorker: Sendable {
    let ledger: PostgresLedger
    let rules: IntakeRules

    var policy: Policy { rules.policy }
    var keys: CodeKeys { rules.keys }

    init(_ ledger: PostgresLedger, policy: Policy = .unlimited, keys: CodeKeys = .test) {
        self.ledger = ledger
        rules = .test(policy, keys: keys)
    }

    /// Reads the database's clock.
    func now() async throws -> Timestamp {
        try await ledger.pool.withSession { try $0.execute(Statement("SELECT clock_timestamp()")).clock() }
    }

    func intake(_ records: [InboundRecord]) async throws -> Recorded<[ClaimedSend]> {
        try await intake(candidates: candidates(records))
    }

    func candidates(_ records: [InboundRecord]) async throws -> [Candidate] {
        let screener = Screener(policy: policy, keys: keys, numbers: FixedNumbers())
        let now = try await now()
        return records.map { screener.candidate(for: $0, now: now) }
    }

    func intake(candidates: [Candidate]) async throws -> Recorded<[ClaimedSend]> {
        let recorded = try await decided(candidates)
        #expect(recorded.value.waiting.isEmpty)
        return Recorded(recorded.value.sends, outbox: recorded.outbox)
    }

    /// Decides records while other workers run, and retries the ones whose rows are locked.
    func intakeBesideOthers(_ records: [InboundRecord]) async throws -> Recorded<[ClaimedSend]> {
        try await decideBesideOthers(try await candidates(records)) { try await decided($0) }
    }

    /// Decides candidates once.
    ///
    /// The result includes the candidates whose rows another transaction locks.
    func decided(_ candidates: [Candidate]) async throws -> Recorded<IntakeResult> {
        let recorded = try await ledger.intake(candidates, by: rules)
        #expect(EventContract.violations(in: recorded.outbox) == [])
        return recorded
    }

    /// Claims of new sends, each for a different person.
    func claims(_ count: Int = 1, from first: Int = 0) async throws -> [ClaimedSend] {
        try await intake(.people(count, from: first, at: try await now())).value
    }

    /// Claims new sends, or returns nil when another transaction holds a lock that they need.
    func claimsUnlessLocked(_ count: Int, from first: Int) async throws -> [ClaimedSend]? {
        do {
            return try await claims(count, from: first)
        } catch let error where error.isLockConflict {
            return nil
        }
    }

    /// Makes one new request and returns its only claim.
    func claim(_ person: Int = 0) async throws -> ClaimedSend {
        try #require(try await claims(1, from: person).first)
    }

    /// Marks all claims as dispatching and records the same outcome for each.
    func settle(_ claims: [ClaimedSend], _ disposition: SendDisposition) async throws -> Recorded<RecordResult> {
        _ = try await ledger.markDispatching(claims)
        let recorded = try await ledger.record(claims.map { .init($0, disposition) })
        #expect(EventContract.violations(in: recorded.outbox) == [])
        return recorded
    }

    /// Publishes the records that a transaction handed over.
    func publish(_ recorded: Recorded<some Sendable>) async throws {
        try await ledger.published(recorded.outbox)
    }
}

extension Ledger {
    /// Publishes the records that workers handed over and those that the sweep finds, in order.
    func publishAll(_ handedOver: [OutboxRecord]) async throws -> [OutboxRecord] {
        var all: [OutboxRecord] = []
        var next = handedOver
        while !next.isEmpty {
            try Task.checkCancellation()
            all += next
            try await published(next)
            next = try await sweepOutbox()
        }
        return all
    }
}

extension Policy {
    static let unlimited = Policy.test { tenant in
        tenant.limits = LimitPolicy(perRecipient: [], perIP: [], perTenant: [])
    }

    /// A policy that counts admissions, with limits that no test reaches.
    static let counting = Policy.test { tenant in
        tenant.limits = LimitPolicy(
            perRecipient: [RateLimit(count: 1000, per: .seconds(3600))],
            perIP: [RateLimit(count: 1000, per: .seconds(3600))],
            perTenant: [RateLimit(count: 1_000_000, per: .seconds(60))]
        )
    }
}

extension [InboundRecord] {
    /// One request of each of `count` people, each from its own address; `round` distinguishes a person's requests.
    static func people(_ count: Int, from first: Int = 0, round: Int = 0, at time: Timestamp) -> [InboundRecord] {
        (first..<(first + count)).map { person in
            .request(
                id: "p\(person)-\(round)",
                phoneNumber: "+4915\(100_000_000 + person)",
                offset: Int64(round * 1_000_000 + person),
                at: time,
                more: #","client":{"ip":"\#(String.address(of: person))"}"#
            )
        }
    }
}

extension String {
    /// The IP address of one of `people`.
    static func address(of person: Int) -> String {
        "10.\(person >> 16 & 255).\(person >> 8 & 255).\(person & 255)"
    }
}

extension LimitKey {
    /// The key of the window that counts an address.
    static func address(_ address: String, tenant: String = "default") -> LimitKey {
        let fingerprint = IPAddress(address).map { CodeKeys.test.digest(of: $0).bytes } ?? []
        return LimitKey(scope: .ip, tenant: tenant, fingerprint: fingerprint)
    }
}

extension SendResult {
    convenience init(_ claim: ClaimedSend, _ disposition: SendDisposition) {
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
            ),
            verification: claim.verification
        )
    }
}

extension OutboxRecord {
    var eventID: String? {
        headers.first { $0.name == "ce_id" }?.value.map { String(decoding: $0, as: UTF8.self) }
    }

    var json: JSONObject? {
        guard let value, case .object(let object)? = try? JSONScanner.parse(value) else { return nil }
        return object
    }
}

/// Decides candidates while other workers run, and retries the ones whose rows are locked until none is left.
func decideBesideOthers(
    _ candidates: [Candidate],
    _ decide: ([Candidate]) async throws -> Recorded<IntakeResult>
) async throws -> Recorded<[ClaimedSend]> {
    var left = candidates
    var sends: [ClaimedSend] = []
    var outbox: [OutboxRecord] = []
    try await eventually("every record is decided", within: .seconds(60)) {
        do {
            let recorded = try await decide(left)
            sends += recorded.value.sends
            outbox += recorded.outbox
            left = recorded.value.waiting
        } catch let error where error.isLockConflict {}
        return left.isEmpty
    }
    return Recorded(sends, outbox: outbox)
}
