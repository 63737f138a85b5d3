// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import TestSupport
import Testing
import Verification

@testable import Ledger

@Suite struct FeedbackLedgerTests {
    private static let hour = Duration.seconds(3600)

    @Test
    func `an approved message is found by its id's time, its provider and the time of the approval`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(3)
            _ = try await worker.settle(Array(claims.prefix(2)), .sent)
            let verifier = Verifier.test(database.pool)
            let before = try await worker.now()
            // The second one is not approved, and the third has no answer of a provider.
            for claim in [claims[0], claims[2]] {
                #expect(try await verifier.check(claim).status == .approved)
            }
            let after = try await worker.now()
            func found(
                from: Duration = .zero - Self.hour,
                to: Duration = Self.hour,
                by providers: [String] = ["main", "x"],
                _ times: (Timestamp, Timestamp)? = nil
            ) async throws -> [ConfirmedMessage] {
                let (approvedAfter, upTo) = times ?? (before, after)
                return try await worker.ledger.confirmed(
                    from: after + from,
                    to: after + to,
                    by: providers,
                    approvedAfter: approvedAfter,
                    upTo: upTo
                )
            }
            let message = try #require(try await found().first)
            #expect(try await found().count == 1)
            #expect(
                message.send == claims[0].id && message.provider == "main" && message.messageID == "SM1"
            )
            #expect(message.approvedAt > before && message.approvedAt <= after)
            #expect(try await found(by: ["x"]).isEmpty)
            #expect(try await found(from: .seconds(60)).isEmpty)
            #expect(try await found(to: .seconds(-60)).isEmpty)
            #expect(try await found((after, after + Self.hour)).isEmpty)
            #expect(try await found((before - Self.hour, before)).isEmpty)
            try await database.script("UPDATE courier.verification SET fictional = true")
            #expect(try await found().isEmpty)
        }
    }

    @Test
    func `of several messages the newest that left counts, and a login of a worker may read it`() async throws {
        try await LedgerDatabase.with { database in
            try await database.withLogin(granted: "courier_worker") { pool in
                let worker = LedgerWorker(database.ledger(on: pool))
                let first = try await worker.claim()
                _ = try await worker.settle([first], .sent)
                try await database.script("UPDATE courier.verification SET resend_after = '-infinity'")
                let now = try await worker.now()
                let second = try #require(
                    try await worker.intake(.people(1, round: 1, at: now)).value.first
                )
                _ = try await worker.settle([second], .sent)
                #expect(try await Verifier.test(database.pool).check(second).status == .approved)
                let found = try await worker.ledger.confirmed(
                    from: now - Self.hour,
                    to: now + Self.hour,
                    by: ["main"],
                    approvedAfter: now - Self.hour,
                    upTo: now + Self.hour
                )
                #expect(found.map(\.send) == [second.id])
            }
        }
    }
}
