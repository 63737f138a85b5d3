// SPDX-License-Identifier: Apache-2.0

import Administration
import TestSupport
import Testing

/// The cell of a database: the first worker sets it, and later workers must have the same one.
@Suite struct CellCheckTests {
    @Test func `the first worker's cell is the database's, and one of another cell is refused by both numbers`()
        async throws
    {
        try await LedgerDatabase.with { database in
            for _ in 0..<2 { try await CellCheck.join(7, database.pool) }
            for other: UInt8 in [0, 255] {
                let refusal = CellCheck.OtherCell(cell: 7, workerCell: other)
                #expect("\(refusal)".contains("cell 7") && "\(refusal)".contains("worker.cell is \(other)"))
                await #expect(throws: refusal) { try await CellCheck.join(other, database.pool) }
            }
            #expect(try await database.texts("SELECT number::text FROM courier.cell") == ["7"])
        }
    }

    @Test func `of workers of several cells that are first at the same time one cell gets the database`() async throws {
        try await LedgerDatabase.with { database in
            let joined: [UInt8] = await withTaskGroup(of: UInt8?.self) { group in
                for cell: UInt8 in 0..<8 {
                    group.addTask {
                        do {
                            try await CellCheck.join(cell, database.pool)
                            return cell
                        } catch {
                            #expect(error is CellCheck.OtherCell)
                            return nil
                        }
                    }
                }
                return await group.reduce(into: []) { cells, cell in cells += [cell].compactMap(\.self) }
            }
            #expect(joined.count == 1)
            let numbers = try await database.texts("SELECT number::text FROM courier.cell")
            #expect(numbers == joined.map { String($0) })
        }
    }

    @Test func `a worker's login is all that it takes`() async throws {
        try await LedgerDatabase.with { database in
            try await database.withLogin(granted: "courier_worker") { pool in try await CellCheck.join(255, pool) }
        }
    }
}
