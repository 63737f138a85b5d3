// SPDX-License-Identifier: Apache-2.0

import Ledger
import PostgresClient
import TestSupport
import Testing
import Verification

@Suite struct StatementCountTests {
    /// The statements and round trips of each method, independent of the batch size.
    private typealias Counts = [String: MessageCounter.Count]

    @Test func `a batch takes as many statements and round trips as one request`() async throws {
        var counts: [Int: Counts] = [:]
        for size in [1, 100, 500] {
            counts[size] = try await LedgerDatabase.with { try await self.counts($0, size: size) }
        }

        let one = try #require(counts[1])
        #expect(one.count == 9)
        for (name, count) in one {
            #expect(count.statements > 0, "\(name)")
            #expect(counts[100]?[name] == count, "\(name)")
            #expect(counts[500]?[name] == count, "\(name)")
        }
        // One trip reads the facts and locks slots and requests, one reads their verifications, one writes and commits.
        #expect(try #require(one["intake of new people"]).roundTrips <= 2)
        #expect(try #require(one["intake of the same people"]).roundTrips <= 3)
        #expect(one["markDispatching"]?.roundTrips == 1)
        // These sends were swept, so an extra trip reads their verifications first.
        #expect(one["record"]?.roundTrips == 3)
        #expect(one["published"]?.roundTrips == 1)
        #expect(one["receive"]?.roundTrips == 3)
    }

    private func counts(_ database: LedgerDatabase, size: Int) async throws -> Counts {
        try await MessageCounter.with(database.url) { counter in
            try await database.withPool(connections: 1, url: counter.url) { pool in
                var counts: Counts = [:]
                func step<Value>(_ name: String, _ work: () async throws -> Value) async throws -> Value {
                    var value: Value?
                    counts[name] = try await counter.measure { value = try await work() }
                    return try #require(value)
                }
                let worker = LedgerWorker(database.ledger(on: pool), policy: .counting)
                let ledger = worker.ledger
                let now = try await worker.now()
                // A session's first publication also queries the server's timeline: it is not measured.
                try await worker.publish(try await worker.intake([.raw("{", offset: 1, at: now)]))
                let new = try await worker.candidates(.people(size, at: now))
                let same = try await worker.candidates(.people(size, round: 1, at: now))
                let claims = try await step("intake of new people") { try await worker.intake(candidates: new) }.value
                let repeats = try await step("intake of the same people") { try await worker.intake(candidates: same) }
                #expect(repeats.outbox.count == size)
                _ = try await step("published") { try await ledger.published(repeats.outbox) }
                #expect(try await step("markDispatching") { try await ledger.markDispatching(claims) }.count == size)
                let retries = claims.map { SendResult($0, .retry(after: .zero)) }
                _ = try await step("record of retries") { try await ledger.record(retries) }
                let swept = try await step("sweepSends") { try await ledger.sweepSends(capacity: size) }.value
                #expect(swept.count == size)
                let results = swept.map { SendResult($0, .sent) }
                let events = try await step("record") { try await ledger.record(results) }.outbox
                #expect(events.count == size)
                _ = try await ledger.publishAll(events)
                let receipts = swept.map { ReceivedReceipt(.of($0, .delivered)) }
                let told = try await step("receive") { try await ledger.receive(receipts, deadLetters: []) }.outbox
                #expect(told.count == size)
                try await database.script("UPDATE courier.verification SET expires_at = now(), due_at = now()")
                _ = try await step("sweepExpired") { try await ledger.sweepExpired() }
                return counts
            }
        }
    }
}
