// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import TestSupport
import Testing
import Verification

@testable import Ledger

@Suite struct BrakeLaunchTests {
    private static func announce(_ region: String, maximum: Int64?, in database: LedgerDatabase) async throws {
        let statement = Statement(
            """
            INSERT INTO courier.brake_override (tenant, scope, key, action, until, maximum, reason)
            VALUES ('default', 'region', $1, 'launch', clock_timestamp() + interval '1 hour', $2, 'test')
            ON CONFLICT (tenant, scope, key) DO UPDATE SET maximum = excluded.maximum
            """,
            [.int64(BrakeKey(region: region).value), .int64(maximum)]
        )
        try await database.pool.withSession { _ = try $0.execute(statement) }
    }

    @Test func `a launch with a maximum is counted until its messages are used, which changes the board`() async throws
    {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let reader = UUIDValue(1)
            let now = try #require(try await ledger.elect(reader, lease: .seconds(60), judgedTo: nil)).now
            try await Self.announce("BR", maximum: 100, in: database)
            try await Self.announce("FR", maximum: nil, in: database)
            var launch = try #require(try await ledger.launches().first)
            #expect(try await ledger.launches().count == 1)
            #expect(launch.turn.key.regionName == "BR" && launch.maximum == 100 && launch.used == 0)
            #expect(launch.maturedTo == nil && launch.createdAt >= now)

            let version = try await ledger.brakeStatus().version
            (launch.maturedTo, launch.matured, launch.used) = (now, 40, 99)
            #expect(try await ledger.store([launch], by: reader))
            #expect(try await ledger.launches() == [launch])
            #expect(try await ledger.brakeStatus().version == version)
            #expect(try await ledger.brakeBoard() != .empty)
            #expect(try await !ledger.store([launch], by: UUIDValue(2)))

            launch.used = 100
            #expect(try await ledger.store([launch], by: reader))
            #expect(try await ledger.launches().isEmpty)
            #expect(try await ledger.brakeStatus().version == version + 1)

            // Announced anew, it does not take the count of before.
            try await Self.announce("BR", maximum: 500, in: database)
            #expect(try await ledger.store([launch], by: reader))
            let anew = try #require(try await ledger.launches().first)
            #expect(anew.used == 0 && anew.maximum == 500 && anew.createdAt > launch.createdAt)
        }
    }

    @Test func `a worker's login may count launches, and place none`() async throws {
        try await LedgerDatabase.with { database in
            try await Self.announce("BR", maximum: 100, in: database)
            try await database.withLogin(granted: "courier_worker", settings: PostgresLedger.sessionSettings) { pool in
                let ledger = database.ledger(on: pool)
                _ = try await ledger.elect(UUIDValue(1), lease: .seconds(60), judgedTo: nil)
                var launches = try await ledger.launches()
                launches[0].used = 100
                #expect(try await ledger.store(launches, by: UUIDValue(1)))
                #expect(try await ledger.launches().isEmpty)
                await #expect(throws: PostgresError.self) {
                    try await pool.withSession { try $0.script("UPDATE courier.brake_override SET until = 'infinity'") }
                }
            }
        }
    }
}
