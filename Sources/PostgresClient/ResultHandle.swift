// SPDX-License-Identifier: Apache-2.0

import CLibpq

/// One `PGresult`, freed exactly once.
// SAFETY: a result is complete when libpq returns it and is only read afterwards; libpq's accessors change nothing in
// it as long as row and column are in range, which every caller here checks first.
@safe struct ResultHandle: ~Copyable, @unchecked Sendable {
    private let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit {
        unsafe PQclear(pointer)
    }

    var status: ExecStatusType { unsafe PQresultStatus(pointer) }
    var rowCount: Int { unsafe Int(PQntuples(pointer)) }
    var columnCount: Int { unsafe Int(PQnfields(pointer)) }

    /// The command's tag, such as `COMMIT` or `UPDATE 3`.
    var commandTag: String {
        unsafe PQcmdStatus(pointer).map { unsafe String(cString: $0) } ?? ""
    }

    /// The rows that a command changed, or read.
    var affectedRows: Int {
        unsafe PQcmdTuples(pointer).flatMap { unsafe Int(String(cString: $0)) } ?? 0
    }

    /// The error that the server reported, and whether it ends the session; nil when libpq made the error itself.
    var serverError: (error: PostgresError, endsSession: Bool)? {
        guard let state = field(COURIER_FIELD_SQLSTATE).flatMap(SQLState.init(rawValue:)) else { return nil }
        let severity = field(COURIER_FIELD_SEVERITY)
        let error = PostgresError(
            .server,
            sqlState: state,
            constraint: field(COURIER_FIELD_CONSTRAINT),
            table: field(COURIER_FIELD_TABLE)
        )
        return (error, severity == "FATAL" || severity == "PANIC")
    }

    private func field(_ name: courier_error_field) -> String? {
        unsafe PQresultErrorField(pointer, Int32(name.rawValue)).map { unsafe String(cString: $0) }
    }

    func type(ofColumn column: Int) -> UInt32 {
        unsafe PQftype(pointer, Int32(column))
    }

    /// Passes the bytes of a value to `body`; `some(nil)` for NULL, nil when `body` cannot decode them.
    ///
    /// The caller must check that row and column exist.
    func withBytes<Value>(row: Int, column: Int, _ body: (UnsafeRawBufferPointer) -> Value?) -> Value?? {
        let (row, column) = (Int32(row), Int32(column))
        if unsafe PQgetisnull(pointer, row, column) != 0 { return .some(.none) }
        let length = unsafe Int(PQgetlength(pointer, row, column))
        // SAFETY: libpq owns `length` bytes at this address until PQclear, which cannot run while `self` is borrowed.
        let bytes = unsafe UnsafeRawBufferPointer(start: PQgetvalue(pointer, row, column), count: length)
        return unsafe body(bytes).map { .some($0) }
    }
}
