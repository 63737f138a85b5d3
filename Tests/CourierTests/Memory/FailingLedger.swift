// SPDX-License-Identifier: Apache-2.0

import Courier
import Formats
import Logs
import Synchronization
import TestSupport
import Verification

/// An in-memory implementation of the pipeline's `Ledger`, whose methods fail on demand.
final class FailingLedger: Ledger {
    enum Method: String, CaseIterable, Sendable {
        case intake, markDispatching, record, release, sweepSends, sweepExpired, sweepOutbox, published
        case releaseRecords, maintain, recall
        case receive, sweepReceipts
    }

    enum Failure: CaseIterable, Sendable {
        /// Throws, and changes nothing.
        case refused

        /// Makes the change, and throws as if the answer were lost.
        case answerLost

        /// Throws for an invalid value, which fails every time, and changes nothing.
        case faulty

        /// Throws for a timeout, and changes nothing.
        case slow
    }

    struct Away: Error {}

    struct Slow: BatchFailure {
        let isTimeout = true
        let isLockConflict = false
        let hasSurelyWrittenNothing = true
    }

    struct Held {
        var claim: ClaimedSend
        var state: DueSend.State?
        var isLeased: Bool

        /// Number of provider calls by this claim and earlier ones.
        var attempts: Int16 = 0

        var refusers: [String] = []

        /// The provider for which a retry waits.
        var retryProvider: String?

        /// The providers of the newest dispatch mark.
        var tried: [String]?

        /// True when an answer was lost, so that the next claim repeats the send.
        var isRepeat = false
    }

    private struct State {
        var maintenanceAge = Duration.zero
        var requests: [RequestKey: KnownRequest] = [:]
        var ledger = MemoryLedger()
        var sends: [SendID: Held] = [:]
        var outbox = MemoryOutbox()

        /// Verifications whose rows another transaction locks.
        var locked: Set<VerificationID> = []
        var failures: [Method: [Failure]] = [:]
        var poison: Set<Int64> = []
        var deletion: Gate?
        var runOut: [OutboxRecord] = []
        var delays: [Duration] = []
    }

    private let state = Mutex(State())
    private let journal: Journal

    init(journal: Journal) {
        self.journal = journal
    }

    func fail(_ method: Method, _ failures: [Failure]) {
        state.withLock { $0.failures[method] = failures }
    }

    /// Makes every batch fail that contains a request at one of these offsets.
    func poison(offsets: Set<Int64>) {
        state.withLock { $0.poison = offsets }
    }

    /// Locks the verifications of the first `count` sends, as another transaction would.
    func lock(_ count: Int) {
        state.withLock { state in
            let sends = state.sends.values.sorted { $0.claim.id < $1.claim.id }
            state.locked = Set(sends.prefix(count).map(\.claim.reference.verificationID))
        }
    }

    /// Sets the time since the last successful partition maintenance.
    func maintenanceAge(_ age: Duration) {
        state.withLock { $0.maintenanceAge = age }
    }

    /// Delays the deletion of published records until the gate is open.
    func keepPublished(until gate: Gate) {
        state.withLock { $0.deletion = gate }
    }

    /// Ends all failures, locks and delays.
    func letGo() {
        let deletion = state.withLock { state in
            state.failures = [:]
            state.locked = []
            return state.deletion
        }
        deletion?.open()
    }

    /// Sets verifications that have expired, one event each; a sweep processes ten.
    func runOut(_ records: [OutboxRecord]) {
        state.withLock { $0.runOut = records }
    }

    /// Number of expired verifications that no sweep has processed yet.
    var ranOut: Int { state.withLock { $0.runOut.count } }

    /// The delays with which sends were released.
    ///
    /// This ledger's sweeps ignore them.
    var delays: [Duration] { state.withLock(\.delays) }

    var hasFailures: Bool { state.withLock { $0.failures.values.contains { !$0.isEmpty } } }

    var unpublished: Int { state.withLock { $0.outbox.count } }

    /// Number of sends without an outcome.
    var open: Int { state.withLock { $0.sends.values.count { $0.state != nil } } }

    func expireLeases() {
        state.withLock { state in
            for id in state.sends.keys { state.sends[id]?.isLeased = false }
            state.outbox.lapse()
        }
    }

    private func perform<Value>(_ method: Method, _ body: (inout State) -> Value) throws -> Value {
        journal.note(.ledger(method))
        return try state.withLock { state in
            let failure = state.failures[method, default: []].first
            if failure != nil { state.failures[method]?.removeFirst() }
            if failure == .faulty { throw UnrecordableBatch() }
            if failure == .refused { throw Away() }
            if failure == .slow { throw Slow() }
            let value = body(&state)
            if failure == .answerLost { throw Away() }
            return value
        }
    }
}

// MARK: - The `Ledger` protocol

extension FailingLedger {
    func intake(_ candidates: [Candidate], by rules: IntakeRules) async throws -> Recorded<IntakeResult> {
        let poison = state.withLock(\.poison)
        if candidates.contains(where: { $0.passed != nil && poison.contains($0.record.offset) }) {
            throw UnrecordableBatch()
        }
        return try perform(.intake) { state in
            let waiting = candidates.filter { candidate in
                let id = candidate.possibleOutcomes.first.flatMap { state.ledger.slots[$0.slot] }
                return id.map(state.locked.contains) ?? false
            }
            let places = Set(waiting.map(\.place))
            let candidates = candidates.filter { !places.contains($0.place) }
            for candidate in candidates where state.requests[candidate.key] == nil {
                state.requests[candidate.key] = KnownRequest(of: candidate)
            }
            let changes = state.ledger.decide(candidates, by: rules, requests: state.requests, at: .now)
            state.requests.merge(changes.requests) { $1 }
            for send in changes.sends { state.sends[send.id] = Held(claim: send, state: .claimed, isLeased: true) }
            let result = IntakeResult(
                sends: changes.sends,
                waiting: waiting,
                brake: changes.brake,
                budgets: changes.budgets
            )
            return Recorded(result, outbox: state.outbox.add(changes.outbox))
        }
    }

    func markDispatching(_ claims: [ClaimedSend], tried: [SendClaim: [String]]) async throws -> Set<SendClaim> {
        try perform(.markDispatching) { state in
            let held = claims.filter { state.sends[$0.id]?.claim.reference == $0.reference }
            for claim in held {
                state.sends[claim.id]?.state = .dispatching
                state.sends[claim.id]?.tried = tried[claim.claim]
            }
            return Set(held.map(\.claim))
        }
    }

    func record(_ results: [SendResult]) async throws -> Recorded<RecordResult> {
        try perform(.record) { state in
            let busy = results.filter { state.locked.contains($0.send.verificationID) }
            let taken = results.filter { result in
                guard !state.locked.contains(result.send.verificationID), let held = state.sends[result.send.id] else {
                    return false
                }
                return held.claim.reference == result.send && held.state != nil
            }
            let settled = Set(taken.map(\.send.id))
            return Recorded(RecordResult(waiting: busy, settled: settled), outbox: Self.settle(taken, &state))
        }
    }

    func release(_ claims: [ClaimedSend]) async throws {
        try perform(.release) { state in
            for claim in claims where state.sends[claim.id]?.claim.reference == claim.reference {
                state.sends[claim.id]?.state = .pending
                state.sends[claim.id]?.isLeased = false
            }
        }
    }

    func sweepSends(capacity: Int) async throws -> Recorded<[ClaimedSend]> {
        try perform(.sweepSends) { state in
            let swept = SweepDecision.decide(
                state.sends.values.filter { !$0.isLeased }.compactMap(DueSend.init),
                state.ledger.verifications,
                now: .now,
                capacity: capacity,
                keys: .test
            )
            for claim in swept.claims {
                state.sends[claim.id]?.claim = claim
                state.sends[claim.id]?.state = .claimed
                state.sends[claim.id]?.isLeased = true
            }
            return Recorded(swept.claims, outbox: Self.settle(swept.results, &state))
        }
    }

    func sweepExpired() async throws -> Recorded<Void> {
        try perform(.sweepExpired) { state in
            let told = Array(state.runOut.prefix(10))
            state.runOut.removeFirst(told.count)
            return Recorded((), outbox: state.outbox.add(told))
        }
    }

    func sweepOutbox() async throws -> [OutboxRecord] {
        try perform(.sweepOutbox) { $0.outbox.takeOver() }
    }

    func receive(_ receipts: [ReceivedReceipt], deadLetters: [OutboxRecord]) async throws -> Recorded<ReceiptResult> {
        try perform(.receive) { state in
            let sends = state.sends.values.map(ReportedSend.init)
            let changes = ReceiptDecision.settle(
                receipts,
                sends: sends,
                verifications: state.ledger.verifications,
                now: .now,
                settings: .test
            )
            state.ledger.keep(changes.verifications.values)
            let result = ReceiptResult(settled: Array(changes.sends.values))
            return Recorded(result, outbox: state.outbox.add(deadLetters + changes.outbox))
        }
    }

    func sweepReceipts() async throws -> Recorded<Int> {
        try perform(.sweepReceipts) { _ in Recorded(0, outbox: []) }
    }

    @discardableResult
    func published(_ records: [OutboxRecord]) async throws -> Bool {
        if records.isEmpty { return false }
        await state.withLock(\.deletion)?.pass()
        return try perform(.published) { state in
            state.outbox.remove(records)
            return state.outbox.hasWaiting
        }
    }

    func release(_ records: [OutboxRecord], after pause: Duration) async throws {
        try perform(.releaseRecords) { $0.outbox.release(records.map(\.stream)) }
    }

    func recall(_ streams: [UUIDValue], within limit: Duration) async throws {
        try perform(.recall) { $0.outbox.release(streams) }
    }

    func maintain() async throws -> Duration {
        try perform(.maintain) { $0.maintenanceAge }
    }

    private static func settle(_ results: [SendResult], _ state: inout State) -> [OutboxRecord] {
        for result in results {
            let id = result.send.id
            state.sends[id]?.attempts = result.attempts
            switch result.disposition {
            case .retry(let delay):
                state.delays.append(delay)
                if !result.refusers.isEmpty { state.sends[id]?.refusers = result.refusers }
                if let attempt = result.attempt { state.sends[id]?.retryProvider = attempt.provider }
            case .repeatOnce: state.sends[id]?.isRepeat = true
            default:
                state.sends[id]?.state = nil
                continue
            }
            state.sends[id]?.state = .pending
            state.sends[id]?.isLeased = false
        }
        return state.outbox.add(state.ledger.settle(results, at: .now, source: "/test"))
    }
}

extension FailingLedger: BacklogGauge {
    func backlog() async throws -> Backlog {
        Backlog(dueSends: 0, outbox: unpublished)
    }
}
