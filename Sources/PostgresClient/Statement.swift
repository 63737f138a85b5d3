// SPDX-License-Identifier: Apache-2.0

/// One SQL statement and its parameters.
///
/// The SQL is a literal of the program, so that no statement can be made from strings at run time.
package struct Statement: Sendable, CustomStringConvertible {
    let sql: StaticString
    let parameters: [Parameter]
    private var ending = Ending.none
    private var isRepeated = false

    /// The clause appended to the SQL.
    enum Ending: String {
        case none = ""
        case forUpdate = " FOR UPDATE"
        case skipLocked = " SKIP LOCKED"
        case forUpdateSkipLocked = " FOR UPDATE SKIP LOCKED"
    }

    package init(_ sql: StaticString, _ parameters: [Parameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }

    /// The statement with `SKIP LOCKED`, for one that ends with `FOR UPDATE`: omits rows that another transaction
    /// locks.
    package var skippingLocked: Statement { ending(ending == .forUpdate ? .forUpdateSkipLocked : .skipLocked) }

    /// The statement with `FOR UPDATE`, for one without locks: locks the rows that it reads.
    package var forUpdate: Statement { ending(.forUpdate) }

    /// The statement with `FOR UPDATE SKIP LOCKED`, for one without locks: omits rows that another transaction locks.
    package var forUpdateSkippingLocked: Statement { ending(.forUpdateSkipLocked) }

    private func ending(_ ending: Ending) -> Statement {
        var statement = self
        statement.ending = ending
        return statement
    }

    /// The statement as one that is prepared although it has no parameters, because it runs often.
    package var repeated: Statement {
        var statement = self
        statement.isRepeated = true
        return statement
    }

    var text: String { sql.description + ending.rawValue }

    /// True when the server parses it once in a session; statements with parameters run often.
    var isPrepared: Bool { (isRepeated || !parameters.isEmpty) && sql.hasPointerRepresentation }

    /// The key of a prepared statement: one literal of the program, and the types of its parameters.
    struct Identity: Hashable {
        let address: UInt
        let ending: Ending
        let types: [UInt32]
    }

    /// The literal's address identifies the text; literals with the same text may share it, whatever their parameters.
    var identity: Identity {
        let address = sql.hasPointerRepresentation ? unsafe UInt(bitPattern: sql.utf8Start) : 0
        return Identity(address: address, ending: ending, types: parameters.map(\.type))
    }

    package var description: String { text }

    /// Throws for a statement that the protocol cannot carry: at most 65,535 parameters of 2 GiB each.
    func validate() throws(PostgresError) {
        guard sql.hasPointerRepresentation, parameters.count <= Int(UInt16.max) else {
            throw PostgresError(.misuse, reason: "a statement that the protocol cannot carry")
        }
        for parameter in parameters where (parameter.bytes?.count ?? 0) > Int(Int32.max) {
            throw PostgresError(.misuse, reason: "a parameter over 2 GiB")
        }
    }
}
