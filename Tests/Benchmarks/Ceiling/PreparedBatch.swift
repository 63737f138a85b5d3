// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import PostgresClient
import Verification

/// The transactions of one batch of requests, from its intake to the end of its events, as ready statements.
///
/// Each transaction is a list of round trips, the last of which commits.
struct PreparedBatch: Sendable {
    typealias RoundTrip = [Statement]

    let transactions: [[RoundTrip]]
    let requests: Int
}

/// Decides batches in memory, and keeps the statements that the ledger would send for them.
struct BatchMaker {
    private let ledger: PostgresLedger
    private let screener: Screener
    private let rules: IntakeRules
    private var rows = KnownRows()
    private var verifications: [VerificationID: StoredVerification] = [:]

    init(ledger: PostgresLedger, policy: Policy, keys: CodeKeys, numbers: any NumberDirectory) {
        self.ledger = ledger
        rules = IntakeRules(policy: policy, keys: keys, settings: .benchmark)
        screener = Screener(policy: policy, keys: keys, numbers: numbers)
    }

    mutating func batch(of records: [InboundRecord], at now: Timestamp) -> PreparedBatch {
        var generator = SystemRandomNumberGenerator()
        let candidates = records.map { screener.candidate(for: $0, now: now, using: &generator) }
        let intake = IntakeKeys(candidates)
        let facts = facts(for: candidates, at: now)
        let changes = rules.decide(candidates, facts: facts)
        let known = Set(facts.verifications.keys)
        let (pack, outcomePack) = (Pack(behind: []), Pack(behind: []))
        let rows = PostgresLedger.statements(writing: changes, rows, facts, pack)
        keep(changes, at: now)
        let results = changes.sends.map { send in
            SendResult(
                send: send.reference,
                disposition: .sent,
                attempts: 1,
                attempt: .init(
                    provider: "main",
                    messageID: "SM\(send.id)",
                    segments: 1,
                    encoding: "GSM-7",
                    errorCode: nil
                ),
                verification: send.verification
            )
        }
        let claimed = verifications
        let outcome = OutcomeDecision.settle(
            results,
            verifications: verifications,
            now: now,
            source: rules.settings.source
        )
        let told = outcomePack.split(outcome.outbox)
        for verification in outcome.verifications { verifications[verification.id] = verification }
        let parcel = UUIDValue.random
        let claims = changes.sends.map(\.reference)
        let writes =
            rows + (claims.isEmpty ? [] : [ledger.insertParcel(parcel, claims)])
            + ledger.insertOutbox(pack.split(changes.outbox))
            + [PostgresLedger.admitTenants(changes.admissions, intake, at: now)].compactMap(\.self)
        return PreparedBatch(
            transactions: [
                intakeTrips(intake, known, writes),
                [[ledger.mark(changes.sends, in: claims.map { _ in parcel })]],
                [
                    [PostgresLedger.settleSends(results), Statement("SELECT clock_timestamp()")],
                    [PostgresLedger.settleVerifications(outcome.verifications, known: claimed, outcomePack)],
                    ledger.insertOutbox(told) + [PostgresLedger.deleteParcels([parcel])],
                ],
                [
                    PostgresLedger.forget(
                        Self.plan(publishing: [pack.split(changes.outbox), told])
                    )
                ],
            ],
            requests: records.count
        )
    }

    private static func plan(publishing outboxes: [SplitOutbox]) -> OpenPacks.Plan {
        var plan = OpenPacks.Plan()
        for outbox in outboxes where !outbox.packed.isEmpty {
            plan.ended[outbox.pack] = outbox.packed.map { OutboxKey($0) }
        }
        plan.single = outboxes.flatMap(\.rows).map { OutboxKey($0) }
        return plan
    }

    private func intakeTrips(
        _ keys: IntakeKeys,
        _ known: Set<VerificationID>,
        _ writes: [Statement]
    ) -> [PreparedBatch.RoundTrip] {
        var trips = [
            [
                PostgresLedger.lockPersons(keys.persons), PostgresLedger.lockWindows(keys.windows),
                PostgresLedger.lockRequests(keys), PostgresLedger.readTime(keys),
            ]
        ]
        if !known.isEmpty {
            trips.append([
                PostgresLedger.lockVerifications(known), PostgresLedger.unpublished(known),
                PostgresLedger.readTime(keys),
            ])
        }
        return trips + [writes]
    }

    private func facts(for candidates: [Candidate], at now: Timestamp) -> IntakeFacts {
        var requests: [RequestKey: KnownRequest] = [:]
        var found: [SlotKey: VerificationID] = [:]
        var known: [VerificationID: StoredVerification] = [:]
        var limits: [LimitKey: LimitWindow] = [:]
        for candidate in candidates {
            requests[candidate.key] = KnownRequest(of: candidate)
            for passed in candidate.possibleOutcomes {
                if let id = rows.persons[passed.slot.person]?[passed.slot.purpose] {
                    found[passed.slot] = id
                    known[id] = verifications[id]
                }
                for key in passed.limits { limits[key] = rows.persons[key]?.window ?? rows.windows[key] }
            }
        }
        return IntakeFacts(now: now, requests: requests, slots: found, verifications: known, windows: limits)
    }

    private mutating func keep(_ changes: IntakeChanges, at now: Timestamp) {
        for verification in changes.insertedVerifications + changes.updatedVerifications {
            verifications[verification.id] = verification
        }
        rows.persons.merge(changes.persons(from: rows.persons, at: now)) { $1 }
        for (key, change) in changes.windows where key.scope != .recipient { rows.windows[key] = change.window }
    }
}
