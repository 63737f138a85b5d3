// SPDX-License-Identifier: Apache-2.0

package import PostgresClient

/// Compares a worker's cell with the database's cell, which its first worker set.
package enum CellCheck {
    /// The database belongs to another cell than the worker.
    package struct OtherCell: Error, Equatable, CustomStringConvertible {
        package let cell: UInt8
        package let workerCell: UInt8

        package init(cell: UInt8, workerCell: UInt8) {
            self.cell = cell
            self.workerCell = workerCell
        }

        package var description: String {
            """
            the database belongs to cell \(cell) (courier.cell) and worker.cell is \(workerCell): name the database of \
            cell \(workerCell), or set worker.cell to \(cell)
            """
        }
    }

    /// Assigns the database to the cell, or throws when it belongs to another one.
    ///
    /// Of two first workers, the second waits for the first one's row lock and then reads the row.
    package static func join(_ cell: UInt8, _ pool: PostgresPool) async throws {
        let number = try await pool.withTransaction { transaction in
            try transaction.commit([
                Statement(
                    "INSERT INTO courier.cell (number) VALUES ($1) ON CONFLICT DO NOTHING",
                    [.int16(Int16(cell))]
                ),
                Statement("SELECT number FROM courier.cell"),
            ])[1].onlyRow.int16(0)
        }
        guard number == Int16(cell) else { throw OtherCell(cell: UInt8(clamping: number), workerCell: cell) }
    }
}
