// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing
import Verification

/// Checks invariants over random histories of requests, outcomes, lost workers, guesses and clock steps.
@Suite struct DecisionInvariantTests {
    @Test func `no history breaks a promise`() {
        let first = TestSeed("histories")
        var seen: Set<String> = []
        // Requires that histories reach these cases, since an empty history would keep every invariant.
        let expected: Set = [
            "sent", "suppressed", "rejected", "expired_unsent", "failed", "unknown", "expired", "duplicate_request",
            "request_id_conflict", "max_sends", "locked", "resend_window", "send_pending", "worker_lost",
            "second generation",
            "taken over", "dead letter", "unauthorized_domain", "email", "apns", "second email",
        ]
        // Runs 500 histories, and up to 2,000 until every rare case has occurred.
        for index in 0..<2000 where index < 500 || !expected.isSubset(of: seen) {
            // `COURIER_TEST_SEED` with this seed runs the failing history first.
            let seed = first.seed &+ UInt64(index)
            var play = DecisionPlay(random: TestSeed(seed: seed))
            for _ in 0..<6 { play.step() }
            #expect(play.watch.broken.isEmpty, "COURIER_TEST_SEED=\(seed)")
            if !play.watch.broken.isEmpty { return }
            seen.formUnion(play.seen)
        }
        #expect(expected.subtracting(seen).isEmpty)
    }
}

/// One history whose invariants are checked at every step.
private struct DecisionPlay {
    private var history: DecisionHistory
    private var tables = DecisionHistory.tables()
    private(set) var watch = DecisionWatch()

    /// Statuses, reasons and other cases that occurred.
    private(set) var seen: Set<String> = []

    init(random: TestSeed) {
        history = DecisionHistory(random: random)
    }

    mutating func step() {
        intake()
        dispatch()
        watch.look(at: tables)
        guess()
        tables.now = tables.now + history.pause()
        sweep()
        let expired = tables.expire()
        watch.published(expired)
        see(expired)
        watch.look(at: tables)
    }

    private mutating func intake() {
        for record in history.records(at: tables.now) {
            let candidate = tables.candidate(record)
            let changes = tables.intake([candidate])
            watch.decided(candidate, changes, tables)
            see(changes.outbox)
            if changes.sends.contains(where: { $0.generation > 1 }) { seen.insert("second generation") }
            for claim in changes.sends {
                seen.insert(claim.recipient.channel.rawValue)
                if claim.link() != nil, claim.generation > 1 { seen.insert("second email") }
            }
        }
    }

    /// Ends claims; some workers die before or after the mark.
    private mutating func dispatch() {
        for claim in claims() {
            guard history.random.chance(80) else { continue }
            tables.markDispatching(claim.id)
            if history.random.chance(85) { settle(claim, history.disposition()) }
        }
    }

    private mutating func settle(_ claim: ClaimedSend, _ disposition: SendDisposition) {
        let changes = tables.settle(claim, disposition)
        watch.ended(claim, disposition, tables)
        watch.published(changes.outbox)
        see(changes.outbox)
        // A repeated outcome, or an outcome under an old claim, changes nothing.
        if case .retry = disposition { return }
        if !tables.settle(claim, .sent).outbox.isEmpty { seen.insert("late outcome") }
    }

    private mutating func sweep() {
        let before = tables.sends
        let swept = tables.sweep(capacity: history.random.below(4))
        for claim in swept.claims {
            seen.insert("taken over")
            watch.handed(claim, tables)
        }
        for (id, send) in before where tables.sends[id] == nil {
            watch.ended(send.claim, send.state == .dispatching ? .unknown(.workerLost) : .expiredUnsent, tables)
        }
        watch.published(swept.outbox)
        see(swept.outbox)
    }

    private mutating func guess() {
        for id in tables.verifications.keys.sorted() {
            if history.random.chance(5) { tables.approve(id) }
            if history.random.chance(25) { for _ in 0...history.random.below(3) { tables.guessWrong(id) } }
        }
    }

    private func claims() -> [ClaimedSend] {
        tables.sends.values.filter { $0.state == .claimed }.map(\.claim).sorted { $0.id < $1.id }
    }

    private mutating func see(_ outbox: [OutboxRecord]) {
        for record in outbox {
            guard let event = EventsView(record) else {
                seen.insert("dead letter")
                continue
            }
            seen.formUnion([event.status, event.reason].compactMap(\.self))
        }
    }
}
