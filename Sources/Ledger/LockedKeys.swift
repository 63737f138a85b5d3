// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Synchronization
import Verification

/// The keys of a batch whose rows another transaction locks.
///
/// All other rows of the batch that there are, are locked from then on, without having waited for any.
struct LockedKeys {
    private let keys: Set<UInt128>

    /// Windows that are known to be full are not locked.
    init(_ keys: IntakeKeys, _ full: [LimitKey: LimitWindow], _ transaction: Transaction) throws {
        let windows = keys.windows.filter { full[$0] == nil }

        // 1. Persons, windows and requests, each as far as it is free, and those that there are.
        let rows = try transaction.run([
            Self.shortWait,
            PostgresLedger.lockPersons(keys.persons).skippingLocked, PostgresLedger.lockWindows(windows).skippingLocked,
            PostgresLedger.lockRequests(keys).skippingLocked, Self.existing(keys, windows),
        ])
        let persons = try PostgresLedger.persons(rows[1])
        let requests = Dictionary(try rows[3].map { (try $0.uuid(0), try $0.optionalUUID(2)) }) { day, _ in day }
        var locked = Set(try rows[4].map { try $0.uuid(0) })
        locked.subtract(persons.keys.map(\.digest.value))
        locked.subtract(try rows[2].map { try $0.uuid(0) })
        locked.subtract(requests.keys)

        // 2. What points to a verification that is locked.
        var targets = requests.compactMap { key, id in id.map { (key: key, id: VerificationID(UUIDValue($0))) } }
        for slot in keys.slots {
            if let id = persons[slot.person]?[slot.purpose] { targets.append((slot.person.digest.value, id)) }
        }
        let known = keys.before(targets.lazy.map(\.id))
        if !known.isEmpty {
            let answers = try transaction.run([
                PostgresLedger.lockVerifications(known).skippingLocked, PostgresLedger.existingVerifications(known),
            ])
            let busy = try PostgresLedger.freeVerifications(answers[0], answers[1]).busy
            locked.formUnion(targets.lazy.filter { busy.contains($0.id) }.map(\.key))
        }
        self.keys = locked
    }

    /// The candidates that need none of these rows, and the others.
    func split(_ candidates: [Candidate]) -> (free: [Candidate], waiting: [Candidate]) {
        if keys.isEmpty { return (candidates, []) }
        var (free, waiting) = ([Candidate](), [Candidate]())
        for candidate in candidates {
            if needsLocked(candidate) { waiting.append(candidate) } else { free.append(candidate) }
        }
        return (free, waiting)
    }

    private func needsLocked(_ candidate: Candidate) -> Bool {
        keys.contains(candidate.key.digest.value)
            || candidate.possiblyPassed.contains { passed in
                keys.contains(passed.slot.person.digest.value)
                    || passed.testNumber == nil && passed.limits.contains { keys.contains($0.digest.value) }
            }
    }

    /// A key that another transaction has inserted and not committed can only be waited for.
    private static let shortWait = Statement("SELECT set_config('lock_timeout', '100ms', true)").repeated

    static func existing(_ keys: IntakeKeys, _ windows: [LimitKey]) -> Statement {
        Statement(
            """
            SELECT p.key FROM courier.person p WHERE p.key = ANY ($1)
            UNION ALL
            SELECT w.key FROM courier.limit_window w WHERE w.key = ANY ($2)
            UNION ALL
            SELECT r.key FROM courier.request r
            WHERE r.key = ANY ($3)
              AND r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                  AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            """,
            [keys.persons.parameter, windows.parameter, .uuids(keys.requests.map(\.key.digest.value))]
        )
    }
}

/// When a batch last met rows that another transaction locks.
///
/// For as long as that is recent, batches look for locked rows before they wait for any: with a transaction that hangs,
/// each batch would else wait once.
final class MetLocks: Sendable {
    private static let memory = Duration.seconds(2)

    private let last = Mutex<ContinuousClock.Instant?>(nil)

    var areRecent: Bool {
        guard let last = last.withLock(\.self) else { return false }
        return last.duration(to: .now) < Self.memory
    }

    func note() {
        last.withLock { $0 = .now }
    }
}
