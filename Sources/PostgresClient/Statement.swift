// SPDX-License-Identifier: Apache-2.0

/// One SQL statement and its parameters.
///
/// The SQL is a literal of the program, so that no statement can be made from strings at run time.
package struct Statement: Sendable, CustomStringConvertible {
    let sql: StaticString
    let parameters: [Parameter]
    private var ending = Ending.none
    private var isRepeated = false

    /// The words behind the text.
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

    /// The same without waiting, for one that ends with `FOR UPDATE`: what another transaction locks is left out.
    package var skippingLocked: Statement { ending(ending == .forUpdate ? .forUpdateSkipLocked : .skipLocked) }

    /// The same for one that locks nothing: it locks what it reads.
    package var forUpdate: Statement { ending(.forUpdate) }

    /// The same for one that locks nothing: it locks what it reads, and leaves out what another transaction locks.
    package var forUpdateSkippingLocked: Statement { ending(.forUpdateSkipLocked) }

    private func ending(_ ending: Ending) -> Statement {
        var statement = self
        statement.ending = ending
        return statement
    }

    /// The same for one without parameters that comes again and again.
    package var repeated: Statement {
        var statement = self
        statement.isRepeated = true
        return statement
    }

    /// The text for the server.
    var text: String { sql.description + ending.rawValue }

    /// Whether the server parses it once a session and not each time: what has parameters comes again and again.
    var isPrepared: Bool { (isRepeated || !parameters.isEmpty) && sql.hasPointerRepresentation }

    /// What a preparation holds for: one text of the program, and the types of its parameters.
    struct Identity: Hashable {
        let address: UInt
        let ending: Ending
        let types: [UInt32]
    }

    /// Equal texts may have one address, whatever their parameters.
    var identity: Identity {
        let address = sql.hasPointerRepresentation ? unsafe UInt(bitPattern: sql.utf8Start) : 0
        return Identity(address: address, ending: ending, types: parameters.map(\.type))
    }

    package var description: String { text }

    /// Refuses what the protocol cannot carry: 65,535 parameters, 2 GiB each.
    func validate() throws(PostgresError) {
        guard sql.hasPointerRepresentation, parameters.count <= Int(UInt16.max) else {
            throw PostgresError(.misuse, reason: "a statement that the protocol cannot carry")
        }
        for parameter in parameters where (parameter.bytes?.count ?? 0) > Int(Int32.max) {
            throw PostgresError(.misuse, reason: "a parameter over 2 GiB")
        }
    }
}
