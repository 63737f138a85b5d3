// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

/// The statements that write a batch's changes, except those of persons, windows and requests.
package struct IntakeWrites {
    package private(set) var statements: [Statement] = []
    private let ledger: PostgresLedger
    private let outbox: SplitOutbox
    private let claims: [SendReference]
    package let parcel = UUIDValue.random
    private let inserts: Range<Int>

    /// Makes the statements of the changes; `outbox` has the changes' records with their final event ids.
    package init(
        _ changes: IntakeChanges,
        _ keys: IntakeKeys,
        _ ledger: PostgresLedger,
        outbox: [OutboxRecord],
        _ pack: Pack,
        at now: Timestamp
    ) {
        if !changes.insertedVerifications.isEmpty {
            statements.append(PostgresLedger.insertVerifications(changes.insertedVerifications, pack))
        }
        if !changes.updatedVerifications.isEmpty {
            statements.append(PostgresLedger.updateVerifications(changes.updatedVerifications, pack))
        }
        claims = changes.sends.map(\.reference)
        if !claims.isEmpty {
            statements += [PostgresLedger.insertSends(changes.sends), ledger.insertParcel(parcel, claims)]
        }
        self.ledger = ledger
        self.outbox = pack.split(outbox)
        let inserts = ledger.insertOutbox(self.outbox)
        self.inserts = statements.endIndex..<statements.endIndex + inserts.count
        statements += inserts
        if let admit = PostgresLedger.admitTenants(changes.admissions, keys, at: now) { statements.append(admit) }
    }

    /// Commits these writes after statements that may fail, and returns the records to publish.
    ///
    /// In this order a failure undoes little.
    func tryCommit(behind others: [Statement], _ transaction: Transaction) throws -> [OutboxRecord] {
        let answers = Array(try transaction.tryCommit(others + statements).dropFirst(others.count))
        if !claims.isEmpty { ledger.openParcels.add(parcel, claims.map(\.claim), for: ledger.settings.lease * 2) }
        return try ledger.handedOver(outbox, answers[inserts])
    }
}
