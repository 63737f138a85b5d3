// SPDX-License-Identifier: Apache-2.0

/// One SQL statement and its parameters.
///
/// The SQL is a literal of the program, so that no statement can be made from strings at run time.
package struct Statement: Sendable, CustomStringConvertible {
    let sql: StaticString
    let parameters: [Parameter]

    package init(_ sql: StaticString, _ parameters: [Parameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }

    /// Whether the server parses it once a session and not each time: what has parameters comes again and again.
    var isPrepared: Bool { !parameters.isEmpty && sql.hasPointerRepresentation }

    /// What a preparation holds for: one text of the program, and the types of its parameters.
    struct Identity: Hashable {
        let address: UInt
        let types: [UInt32]
    }

    /// Equal texts may have one address, whatever their parameters.
    var identity: Identity {
        let address = sql.hasPointerRepresentation ? unsafe UInt(bitPattern: sql.utf8Start) : 0
        return Identity(address: address, types: parameters.map(\.type))
    }

    package var description: String { sql.description }

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
