// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing
import Verification

/// Checks that a batch has the same result as its records one by one.
@Suite struct DecisionBatchTests {
    @Test func `deciding a batch at once and record by record comes to the same`() {
        let first = TestSeed("batches")
        for index in 0..<500 {
            // `COURIER_TEST_SEED` with this seed runs the failing history first.
            let seed = first.seed &+ UInt64(index)
            let difference = Self.difference(of: DecisionHistory(random: TestSeed(seed: seed)))
            #expect(difference == nil, "COURIER_TEST_SEED=\(seed)")
            if difference != nil { return }
        }
    }

    @Test(arguments: [["r\u{e9}", "re\u{301}"], ["re\u{301}", "r\u{e9}"]])
    func `ids of the same look and other bytes are two requests`(ids: [String]) {
        var tables = DecisionTables()
        let records = ids.enumerated().map { index, id in
            InboundRecord.request(
                id: id,
                phoneNumber: "+491512345678\(index)",
                offset: Int64(index),
                at: tables.now
            )
        }
        #expect(tables.intake(tables.candidates(records)).sends.count == 2)
        #expect(tables.requests.count == 2)
        #expect(tables.intake(tables.candidates(records)).outbox.isEmpty)
    }

    @Test func `a request of no tenant takes nobody's id`() {
        var tables = DecisionTables()
        let stray = tables.intake(.request(id: "1", at: tables.now, more: #","tenant":"acme corp""#))
        #expect(stray.events.first?.reason == "invalid_request")
        #expect(stray.events.first?.requestID == "1")
        #expect(tables.intake(.request(id: "1", at: tables.now, more: #","tenant":"acme corp""#)).outbox.isEmpty)
        #expect(tables.intake(.request(id: "1", offset: 1, at: tables.now)).sends.count == 1)
    }

    /// Runs a history both ways, and returns their first difference.
    private static func difference(of history: DecisionHistory) -> String? {
        var history = history
        var tables = DecisionHistory.tables()
        for _ in 0..<4 {
            let candidates = tables.candidates(history.records(at: tables.now))
            var singly = tables
            let together = tables.intake(candidates)
            let parts = candidates.map { singly.intake([$0]) }

            if together.outbox != parts.flatMap(\.outbox) { return "the events differ" }
            let sends = parts.flatMap(\.sends)
            if together.sends.map(\.reference) != sends.map(\.reference) { return "the sends differ" }
            if together.sends.map(\.code) != sends.map(\.code) { return "the codes differ" }
            if together.sends.map(\.deadline) != sends.map(\.deadline) { return "the deadlines differ" }
            if tables.requests != singly.requests { return "the requests differ" }
            if tables.slots != singly.slots { return "the slots differ" }
            if tables.verifications.mapValues(\.rowWithoutSeal) != singly.verifications.mapValues(\.rowWithoutSeal) {
                return "the verifications differ"
            }
            step(&tables, &history)
        }
        return nil
    }

    private static func step(_ tables: inout DecisionTables, _ history: inout DecisionHistory) {
        for claim in tables.sends.values.map(\.claim).sorted(by: { $0.id < $1.id }) where history.random.chance(70) {
            tables.settle(claim, history.disposition())
        }
        for id in tables.verifications.keys.sorted() {
            if history.random.chance(10) { tables.approve(id) }
            if history.random.chance(20) { for _ in 0..<3 { tables.guessWrong(id) } }
        }
        tables.now = tables.now + history.pause()
    }
}

extension StoredVerification {
    /// Every column except the seal, which is random.
    var rowWithoutSeal: [String] {
        Mirror(reflecting: self).children.filter { $0.label != "sealed" }.map { "\($0.label ?? ""): \($0.value)" }
    }
}
