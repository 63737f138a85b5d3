// SPDX-License-Identifier: Apache-2.0

import CLibpq

/// The answer to one statement: its rows, if any, and the number of rows it changed.
package struct Rows: RandomAccessCollection, Sendable {
    let result: QueryResult

    init(_ result: consuming ResultHandle) {
        self.result = QueryResult(result)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { result.rowCount }

    /// The row at a position; a row past the end exists, and throws when it is read.
    package subscript(position: Int) -> Row { Row(result: result, index: position) }

    /// The number of rows that the statement inserted, updated, deleted or read.
    package var affectedRows: Int { result.handle.affectedRows }

    /// The command's tag, such as `INSERT 0 3`.
    package var commandTag: String { result.handle.commandTag }

    /// The only row; throws for any other number of rows.
    package var onlyRow: Row {
        get throws(PostgresError) {
            guard count == 1 else { throw PostgresError(.unexpectedResult, reason: "\(count) rows where one is due") }
            return self[0]
        }
    }
}

/// A result shared by the rows that read from it.
final class QueryResult: Sendable {
    let handle: ResultHandle
    let rowCount: Int
    private let types: [UInt32]

    init(_ handle: consuming ResultHandle) {
        rowCount = handle.rowCount
        var types: [UInt32] = []
        types.reserveCapacity(handle.columnCount)
        for column in 0..<handle.columnCount { types.append(handle.type(ofColumn: column)) }
        self.types = types
        self.handle = handle
    }

    /// Reads a value that may be NULL; throws unless it exists and has the expected kind and size.
    @inline(__always)
    func read<Value>(
        row: Int,
        column: Int,
        as kind: ColumnKind,
        _ decode: (UnsafeRawBufferPointer) -> Value?
    ) throws(PostgresError) -> Value? {
        guard row >= 0, row < rowCount, column >= 0, column < types.count else {
            throw PostgresError(.unexpectedResult, reason: "no column \(column) in row \(row) of \(rowCount)")
        }
        guard kind.accepts(types[column]) else {
            throw PostgresError(.unexpectedResult, reason: "column \(column) has type \(types[column]), not \(kind)")
        }
        guard let value = unsafe handle.withBytes(row: row, column: column, decode) else {
            throw PostgresError(.unexpectedResult, reason: "column \(column) is no well-formed \(kind)")
        }
        return value
    }
}
