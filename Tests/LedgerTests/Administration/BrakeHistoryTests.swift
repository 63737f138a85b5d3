// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Ledger
import PostgresClient
import TestSupport
import Testing
import Verification

/// Tests what an operator's replay of the brake reads.
@Suite struct BrakeHistoryTests {
    @Test func `an operator's login reads the same verifications as the fleet's reader, and no person`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let worker = LedgerWorker(ledger)
            let now = try await worker.now()
            let claims = try await worker.claims(3)
            _ = try await worker.settle(claims, .sent)
            try await database.script(
                """
                UPDATE courier.verification v SET state = 'approved', ended_at = clock_timestamp()
                WHERE v.id = (SELECT min(x.id::text)::uuid FROM courier.verification x);
                UPDATE courier.verification v SET fictional = true
                WHERE v.id = (SELECT max(x.id::text)::uuid FROM courier.verification x);
                """
            )
            let range = (from: now - .seconds(5), to: now + .seconds(60))
            let expected = try await ledger.conversions(from: range.from, to: range.to)
            #expect(expected["default"]?.count == 2)
            try await database.withLogin(granted: "courier_operator") { pool in
                let desk = BrakeDesk(pool: pool)
                let found = try await desk.verifications(from: range.from, to: range.to, tenant: nil)
                #expect(found == expected)
                #expect(Set((found["default"] ?? []).map(\.outcome)) == [.approved, .open])
                #expect(try await desk.verifications(from: range.from, to: range.to, tenant: "default") == expected)
                #expect(try await desk.verifications(from: range.from, to: range.to, tenant: "other").isEmpty)
                #expect(try await desk.verifications(from: range.to, to: range.to + .seconds(9), tenant: nil).isEmpty)
            }
        }
    }

    @Test func `hours are summed over providers, of the range and the tenant alone`() async throws {
        try await LedgerDatabase.with { database in
            let hour = Timestamp.test.hour
            for (tenant, provider, at) in [
                ("default", "main", hour), ("default", "backup", hour), ("other", "main", hour),
                ("default", "main", hour + .seconds(3600)),
            ] {
                let statement = Statement(
                    "INSERT INTO courier.conversion VALUES ($1, $2, 'DE', $3, false, 10, 7, 12, 1, 2, 3, 4, 5, 6)",
                    [.timestamp(microsecondsSinceUnixEpoch: at.microseconds), .text(tenant), .text(provider)]
                )
                try await database.pool.withSession { _ = try $0.execute(statement) }
            }
            try await database.withLogin(granted: "courier_operator") { pool in
                let desk = BrakeDesk(pool: pool)
                let counts = try await desk.hours(from: hour, to: hour + .seconds(3600), tenant: "default")
                let group = ConversionCounts.Group(
                    hour: hour,
                    tenant: "default",
                    region: "DE",
                    provider: "",
                    isConfirmed: false
                )
                let within = [2, 4, 6, 8, 10, 12]
                #expect(
                    counts.groups == [group: .init(verifications: 20, approved: 14, sends: 24, within: within)]
                )
                #expect(try await desk.hours(from: hour, to: hour + .seconds(7200), tenant: nil).groups.count == 3)
            }
        }
    }
}
