// SPDX-License-Identifier: Apache-2.0

package import PostgresClient

/// Compares a worker's cell with the one that the database belongs to: that of the first worker that used it.
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

    /// Gives the database to the cell unless it has one by now, which then must be the same.
    ///
    /// Of two first workers one waits for the other one's row, and then reads it.
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
