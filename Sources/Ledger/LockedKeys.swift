// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Verification

/// The keys of a batch whose rows another transaction locks.
///
/// All other rows of the batch that there are, are locked from then on, without having waited for any.
struct LockedKeys {
    private let slots: Set<SlotKey>
    private let windows: Set<LimitKey>
    private let requests: Set<UInt128>

    /// Windows that are known to be full are not locked.
    init(_ keys: IntakeKeys, _ full: [LimitKey: LimitWindow], _ transaction: Transaction) throws {
        let others = keys.windows.filter { full[$0] == nil }

        // 1. Slots, windows and requests, each as far as it is free, and those that there are.
        let rows = try transaction.run([
            Self.shortWait,
            PostgresLedger.lockFreeSlots(keys), PostgresLedger.existingSlots(keys),
            PostgresLedger.lockFreeWindows(others), PostgresLedger.existingWindows(others),
            PostgresLedger.lockFreeRequests(keys), PostgresLedger.existingRequests(keys),
        ])
        let (freeSlots, allSlots) = (try Self.places(rows[1]), try Self.places(rows[2]))
        let (freeWindows, allWindows) = (try Self.windows(rows[3]), try Self.windows(rows[4]))
        let freeRequests = Dictionary(try rows[5].map { (try $0.uuid(0), try $0.optionalUUID(1)) }) { day, _ in day }
        let allRequests = Set(try rows[6].map { try $0.uuid(0) })

        // 2. The verifications that they point to.
        let slotTargets = try Self.targets(rows[1])
        let requestTargets = freeRequests.compactMapValues { $0.map { VerificationID(UUIDValue($0)) } }
        var busy: Set<VerificationID> = []
        let known = keys.before(slotTargets.values).union(keys.before(requestTargets.values))
        if !known.isEmpty {
            let answers = try transaction.run([
                PostgresLedger.lockFreeVerifications(known), PostgresLedger.existingVerifications(known),
            ])
            busy = try PostgresLedger.freeVerifications(answers[0], answers[1]).busy
        }

        // 3. What is there and not free, and what points to such a verification.
        let lockedSlots = allSlots.subtracting(freeSlots).union(slotTargets.filter { busy.contains($0.value) }.keys)
        slots = Set(lockedSlots.map { keys.slots[$0].key })
        windows = allWindows.subtracting(freeWindows)
        requests = allRequests.subtracting(freeRequests.keys)
            .union(requestTargets.filter { busy.contains($0.value) }.keys)
    }

    /// The candidates that need none of these rows, and the others.
    func split(_ candidates: [Candidate]) -> (free: [Candidate], waiting: [Candidate]) {
        if slots.isEmpty, windows.isEmpty, requests.isEmpty { return (candidates, []) }
        var (free, waiting) = ([Candidate](), [Candidate]())
        for candidate in candidates {
            if needsLocked(candidate) { waiting.append(candidate) } else { free.append(candidate) }
        }
        return (free, waiting)
    }

    private func needsLocked(_ candidate: Candidate) -> Bool {
        requests.contains(candidate.key.digest.value)
            || candidate.possiblyPassed.contains { passed in
                slots.contains(passed.slot)
                    || passed.testNumber == nil && passed.limits.contains { windows.contains($0) }
            }
    }

    /// A key that another transaction has inserted and not committed can only be waited for.
    private static let shortWait = Statement("SELECT set_config('lock_timeout', '100ms', true)")

    /// Which of the keys given a row is of.
    private static func places(_ rows: Rows) throws -> Set<Int> {
        Set(try rows.map { Int(try $0.int32(0)) })
    }

    private static func windows(_ rows: Rows) throws -> Set<LimitKey> {
        Set(try rows.map { try LimitKey($0) })
    }

    /// The verifications that rows point to.
    private static func targets(_ rows: Rows) throws -> [Int: VerificationID] {
        var targets = [Int: VerificationID](minimumCapacity: rows.count)
        for row in rows {
            guard let id = try row.optionalUUID(1) else { continue }
            targets[Int(try row.int32(0))] = VerificationID(UUIDValue(id))
        }
        return targets
    }
}
