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

    /// The rows that were changed, by table.
    package struct Report: Sendable, Equatable {
        package var persons: Int64 = 0
        package var receipts: Int64 = 0

        /// Sends that had no outcome yet, and leave no more unless they were on their way.
        package var sends: Int64 = 0
        package var verifications: Int64 = 0

        /// Of the verifications, those that were live.
        package var cancelled: Int64 = 0

        package init() {}
    }

    /// Why nothing is erased.
    package enum Refusal: Error, Equatable, CustomStringConvertible {
        case behind

        package var description: String {
            switch self {
            case .behind:
                "the database lacks a migration that this program needs: run `code-courier migrate`; nothing was erased"
            }
        }
    }

    /// Throws `KeyCheck.OtherKeys` where keys of fingerprints are not the fleet's.
    ///
    /// By another key nobody would be found, and the erasure would look complete.
    package func checkKeys(_ values: [KeyCheckValue]) async throws {
        do {
            try await KeyCheck(pool).compareAsOperator(values)
        } catch let error as PostgresError where error.meansUnknown {
            throw Refusal.behind
        }
    }

    /// Erases the recipient in one transaction, or says what would be erased.
    ///
    /// The fingerprints are the recipient's under every key of the ring, since rows may be older than the active one;
    /// without a tenant it is done for all.
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
                // What throws rolls back.
                if isRehearsal { throw Rehearsed(report: report) }
                return report
            }
        } catch let rehearsed as Rehearsed {
            return rehearsed.report
        }
    }

    private struct Rehearsed: Error {
        let report: Report
    }
}

extension PostgresError {
    /// Whether the server knows no such function, or no such schema (PostgreSQL 15, appendix A).
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
