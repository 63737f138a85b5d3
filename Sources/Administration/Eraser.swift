// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
package import Verification

/// Erases one recipient from a database, through the two functions that role `courier_operator` may execute.
package struct Eraser: Sendable {
    private let pool: PostgresPool

    /// - Parameter pool: connections of a role that is granted `courier_operator`, or of the owner.
    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// The number of changed rows by table.
    package struct Report: Sendable, Equatable {
        package var persons: Int64 = 0
        package var receipts: Int64 = 0

        /// Sends without an outcome, which are not sent any more unless they were in flight.
        package var sends: Int64 = 0
        package var verifications: Int64 = 0

        /// The live ones among the verifications.
        package var cancelled: Int64 = 0

        package init() {}
    }

    /// The reason why nothing is erased.
    package enum Refusal: Error, Equatable, CustomStringConvertible {
        case behind

        package var description: String {
            switch self {
            case .behind:
                "the database lacks a migration that this program needs: run `code-courier migrate`; nothing was erased"
            }
        }
    }

    /// Throws `KeyCheck.OtherKeys` when the fingerprint keys are not the fleet's.
    ///
    /// With another key no row would match, and the erasure would seem complete.
    package func checkKeys(_ values: [KeyCheckValue]) async throws {
        do {
            try await KeyCheck(pool).compareAsOperator(values)
        } catch let error as PostgresError where error.meansUnknown {
            throw Refusal.behind
        }
    }

    /// Erases the recipient in one transaction, or in a rehearsal counts the rows that would change.
    ///
    /// `fingerprints` holds the recipient's fingerprint under every key of the ring, since rows may be older than the
    /// active key. Without a tenant, the erasure covers all tenants.
    package func erase(
        fingerprints: [[UInt8]],
        tenant: String?,
        isRehearsal: Bool = false
    ) async throws -> Report {
        let statement = Statement(
            """
            SELECT persons, receipts, sends, verifications, cancelled
            FROM courier.erase_recipient($1::bytea[], $2::text)
            """,
            [.bytesArray(fingerprints), .text(tenant)]
        )
        do {
            return try await pool.withTransaction { transaction in
                let report = try Report(transaction.run([statement])[0].onlyRow)
                // The error rolls the transaction back.
                if isRehearsal { throw DryRun(report: report) }
                return report
            }
        } catch let dryRun as DryRun {
            return dryRun.report
        }
    }

    private struct DryRun: Error {
        let report: Report
    }
}

extension PostgresError {
    /// True when the server does not know the function or the schema (PostgreSQL 15, appendix A).
    fileprivate var meansUnknown: Bool {
        sqlState.map { ["42883", "3F000"].contains($0.rawValue) } ?? false
    }
}

extension Eraser.Report {
    fileprivate init(_ row: Row) throws(PostgresError) {
        persons = try row.int64(0)
        receipts = try row.int64(1)
        sends = try row.int64(2)
        verifications = try row.int64(3)
        cancelled = try row.int64(4)
    }
}
