// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import TestSupport
import Testing
import Verification

@testable import Ledger

/// Tests the query plans of the ledger's statements when the planner's statistics know of no full tables.
@Suite struct PlanTests {
    /// Number of elements of each array parameter.
    private static let batch = 200

    @Test(.timeLimit(.minutes(10))) func `no statement is planned over a whole table that was never analysed`()
        async throws
    {
        try await Self.withFullTables { database, pool in
            for (name, statement) in Self.statements(database.ledger(on: pool)) {
                let plan = try await Self.plan(of: statement, pool)
                for node in ["Seq Scan", "Hash Join", "Merge Join", "Bitmap Heap Scan"] {
                    #expect(Self.count(node, in: plan) == 0, "\(name): \(plan)")
                }
                // An index scan without a condition would read the whole index.
                let scans = ["Index Scan", "Index Only Scan"].map { Self.count($0, in: plan) }
                let reads = scans.reduce(0, +)
                #expect(reads > 0, "\(name) uses no index: \(plan)")
                #expect(plan.split(separator: #""Index Cond""#).count - 1 == reads, "\(name): \(plan)")
            }
        }
    }

    /// The usual state: most of a day's sends have left, and most verifications have ended.
    @Test func `no statement begins at what is open, though that was little when it was last analysed`() async throws {
        try await Self.withFullTables { database, pool in
            try await database.script(
                """
                UPDATE courier.send SET state = 'sent' WHERE right(request_id, 3) <> '000';
                UPDATE courier.verification SET ended_at = clock_timestamp() WHERE right(request_id, 3) <> '000';
                """
            )
            try await database.script("ANALYZE courier.send")
            try await database.script("ANALYZE courier.verification")
            try await Self.expectLookups(database, pool)
        }
    }

    /// A session keeps a plan until its tables are analysed again, however large they grow before that.
    @Test func `no statement begins at a table that was small when it was planned`() async throws {
        try await Self.withFullTables { database, pool in
            try await database.leave(30)
            try await Self.expectLookups(database, pool)
        }
    }

    /// Statistics are empty after a restore or a quiet night, and the first plans last until the table is analysed.
    @Test func `persons and windows are reached by their keys, though there was none when they were last analysed`()
        async throws
    {
        try await LedgerDatabase.with { database in
            try await database.script("VACUUM ANALYZE courier.person, courier.limit_window")
            try await database.script(Self.planOf)
            try await database.withPool(connections: 1, settings: PostgresLedger.sessionSettings) { pool in
                let statements = [
                    PostgresLedger.lockPersons([]), PostgresLedger.lockPersons([]).skippingLocked,
                    PostgresLedger.lockWindows([]),
                    PostgresLedger.lockWindows([]).skippingLocked, LockedKeys.existing(IntakeKeys([]), []),
                ]
                for statement in statements {
                    let plan = try await Self.plan(of: statement, pool)
                    #expect(plan.contains("(key = ANY ($1))") && !plan.contains(#""Join Filter""#), "\(plan)")
                }
                // The plan has no scan and no join: `ON CONFLICT` looks up the key of each row.
                for statement in [PostgresLedger.updatePersons([:]), PostgresLedger.updateWindows([:])] {
                    let plan = try await Self.plan(of: statement, pool)
                    #expect(plan.contains(#""Conflict Resolution": "UPDATE""#), "\(plan)")
                    #expect(!plan.replacing("Subquery Scan", with: "").contains("Scan"), "\(plan)")
                }
            }
        }
    }

    @Test func `requests are reached by their keys, though there was none when they were last analysed`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script("VACUUM ANALYZE courier.request")
            try await database.script(Self.planOf)
            try await database.withPool(connections: 1, settings: PostgresLedger.sessionSettings) { pool in
                let keys = IntakeKeys([])
                let statements = [
                    PostgresLedger.lockRequests(keys), PostgresLedger.lockRequests(keys).skippingLocked,
                    PostgresLedger.updateRequests([:]),
                ]
                for statement in statements {
                    let plan = try await Self.plan(of: statement, pool)
                    #expect(plan.contains("(key = ANY ($1))") && !plan.contains(#""Join Filter""#), "\(plan)")
                }
            }
        }
    }

    @Test func `records are deleted by their keys, though one was left when the outbox was last analysed`() async throws
    {
        try await Self.withFullTables { database, pool in
            try await database.script(
                "DELETE FROM courier.outbox WHERE ctid <> (SELECT ctid FROM courier.outbox ORDER BY ctid DESC LIMIT 1)"
            )
            try await database.script("VACUUM ANALYZE courier.outbox")
            let plan = try await Self.plan(of: PostgresLedger.delete([]), pool)
            #expect(plan.contains(#""Index Cond""#) && !plan.contains(#""Join Filter""#), "\(plan)")
        }
    }

    @Test func `the planner's own choice reads whole tables, so the test above can fail`() async throws {
        try await Self.withFullTables(settings: []) { database, pool in
            var plans = ""
            for (_, statement) in Self.statements(database.ledger(on: pool)) {
                plans += try await Self.plan(of: statement, pool)
            }
            #expect(plans.contains("Hash Join") || plans.contains("Seq Scan") || plans.contains("Merge Join"))
        }
    }

    /// Checks that no plan compares each row of a table with each row of a batch.
    private static func expectLookups(_ database: LedgerDatabase, _ pool: PostgresPool) async throws {
        for (name, statement) in statements(database.ledger(on: pool)) {
            let plan = try await plan(of: statement, pool)
            #expect(!plan.contains(#""Join Filter""#), "\(name): \(plan)")
        }
    }

    /// Provides a database whose full tables were never analysed, and one session.
    private static func withFullTables(
        settings: [(name: String, value: String)] = PostgresLedger.sessionSettings,
        _ body: @Sendable (LedgerDatabase, PostgresPool) async throws -> Void
    ) async throws {
        try await LedgerDatabase.with { database in
            try await database.fill()
            try await database.script(planOf)
            try await database.withPool(connections: 1, settings: settings) { try await body(database, $0) }
        }
    }

    /// Every statement that finds rows by the keys of a batch.
    private static func statements(_ ledger: PostgresLedger) -> [(name: String, statement: Statement)] {
        let keys = IntakeKeys([])
        let pack = Pack(behind: [])
        return [
            ("lock free requests", PostgresLedger.lockRequests(keys).skippingLocked),
            ("existing rows", LockedKeys.existing(keys, [])),
            ("update requests", PostgresLedger.updateRequests([:])),
            ("lock persons", PostgresLedger.lockPersons([])),
            ("lock free persons", PostgresLedger.lockPersons([]).skippingLocked),
            ("lock requests", PostgresLedger.lockRequests(keys)),
            ("lock windows", PostgresLedger.lockWindows(keys.windows)),
            ("lock free windows", PostgresLedger.lockWindows([]).skippingLocked),
            ("lock verifications", PostgresLedger.lockVerifications([VerificationID]())),
            ("lock free verifications", PostgresLedger.lockVerifications([VerificationID]()).skippingLocked),
            ("settle verifications", PostgresLedger.settleVerifications([], known: [:], pack)),
            ("update verifications", PostgresLedger.updateVerifications([], pack)),
            ("unpublished", PostgresLedger.unpublished([VerificationID]())),
            ("mark", ledger.mark([], in: [])),
            ("hand back", PostgresLedger.handBack([])),
            ("settle sends", PostgresLedger.settleSends([])),
            ("claim", PostgresLedger.claim([])),
            ("lock due parcels", ledger.lockDueParcels(since: nil, holding: 500)),
            ("lock open sends", PostgresLedger.lockOpenSends([])),
            ("insert delays", PostgresLedger.insertDelays([])),
            ("delete parcels", PostgresLedger.deleteParcels([])),
            ("delete empty parcels", PostgresLedger.deleteEmptyParcels([])),
            ("lock due verifications", ledger.lockDueVerifications(since: nil)),
            ("postpone", PostgresLedger.postpone([])),
            ("take over outbox", ledger.takeOverOutbox()),
            ("delete packs", PostgresLedger.deletePacks([])),
            ("unpack", PostgresLedger.unpack([:])),
            ("unpack due", PostgresLedger.unpackDue(since: nil)),
            ("lock free sends", PostgresLedger.existingSends([]).forUpdateSkippingLocked),
            ("existing sends", PostgresLedger.existingSends([])),
            ("existing verifications", PostgresLedger.existingVerifications([VerificationID]())),
            ("extend parcels", ledger.extendParcels([])),
            ("keep evidence", PostgresLedger.keepEvidence([])),
            ("lock reported sends", PostgresLedger.reportedSends([]).forUpdateSkippingLocked),
            ("settle reported sends", PostgresLedger.settleReportedSends([])),
            ("lock due receipts", ledger.lockDueReceipts()),
            ("delete receipts", PostgresLedger.deleteReceipts([])),
            ("delete outbox", PostgresLedger.delete([])),
            ("shorten leases", PostgresLedger.shortenLeases(of: [], to: .seconds(2))),
            ("recall", PostgresLedger.shortenLeases(of: [], to: .zero, below: .seconds(16))),
            ("read conversions", PostgresLedger.readConversions(from: .test, to: .test)),
            (
                "read confirmed",
                PostgresLedger.readConfirmed(from: .test, to: .test, by: [], approvedAfter: .test, upTo: .test)
            ),
            ("read blocks", PostgresLedger.readBlocks(endedWithin: .seconds(3600))),
            ("read blocks in force", PostgresLedger.readBlocksInForce),
            ("read brake status", PostgresLedger.readBrakeStatus),
            ("read orders", PostgresLedger.readOverrides),
            ("read hours", PostgresLedger.readHours(since: .test)),
            ("add refusals", PostgresLedger.addRefusals([])),
            ("take reading", PostgresLedger.takeReading(UUIDValue(1), lease: .seconds(1), judgedTo: .test)),
            ("lock reader", PostgresLedger.lockReader(UUIDValue(1), countedTo: .test)),
            ("is any parked", PostgresLedger.isAnyParked(behind: [])),
        ]
    }

    /// Plans a statement as the protocol does: prepared, with values for its parameters.
    private static func plan(of statement: Statement, _ pool: PostgresPool) async throws -> String {
        try await pool.withSession { session in
            try session.script("PREPARE probe AS \(statement.description)")
            defer { try? session.script("DEALLOCATE probe") }
            var values: [String] = []
            for row in try session.execute(types) { values.append(value(of: try row.text(0))) }
            let list = values.isEmpty ? "" : "(\(values.joined(separator: ", ")))"
            let explain = "EXPLAIN (FORMAT JSON) EXECUTE probe\(list)"
            return try session.execute(Statement("SELECT plan_of($1)", [.text(explain)])).onlyRow.text(0)
        }
    }

    private static func count(_ node: String, in plan: String) -> Int {
        plan.split(separator: #""Node Type": "\#(node)""#).count - 1
    }

    private static let types = Statement(
        """
        SELECT t.type::text
        FROM pg_prepared_statements p CROSS JOIN unnest(p.parameter_types) WITH ORDINALITY AS t(type, number)
        WHERE p.name = 'probe' ORDER BY t.number
        """
    )

    private static let planOf = """
        CREATE FUNCTION plan_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
        DECLARE
            plan json;
        BEGIN
            EXECUTE statement INTO plan;
            RETURN plan;
        END
        $$
        """

    /// A sample value of a type; the planner considers only the length of an array.
    private static func value(of type: String) -> String {
        guard type.hasSuffix("[]") else {
            return ["boolean": "true", "timestamp with time zone": "now()", "uuid": "gen_random_uuid()"][type] ?? "500"
        }
        let element =
            switch type.dropLast(2) {
            case "uuid": "gen_random_uuid()"
            case "text": "'x'::text"
            case "bytea": "'x'::bytea"
            case "boolean": "true"
            case "timestamp with time zone": "now()"
            default: "1::\(type.dropLast(2))"
            }
        return "array_fill(\(element), ARRAY[\(batch)])"
    }
}

extension LedgerDatabase {
    /// Keeps `rows` rows in each partition of the tables that `fill` fills, and analyses the tables.
    fileprivate func leave(_ rows: Int) async throws {
        for table in ["request", "person", "limit_window", "verification", "send", "outbox"] {
            try await pool.withSession { session in
                try session.script(
                    """
                    DELETE FROM courier.\(table) t USING (
                        SELECT tableoid AS part, ctid AS place,
                            row_number() OVER (PARTITION BY tableoid ORDER BY ctid DESC) AS number
                        FROM courier.\(table)
                    ) AS r
                    WHERE r.part = t.tableoid AND r.place = t.ctid AND r.number > \(rows)
                    """
                )
                try session.script("VACUUM ANALYZE courier.\(table)")
            }
        }
    }
}
