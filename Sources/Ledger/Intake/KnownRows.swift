// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
package import Verification

/// The existing rows of a batch's persons, windows and requests, all locked except request rows that are not written.
package struct KnownRows {
    package var persons: [LimitKey: Person] = [:]
    package var windows: [LimitKey: LimitWindow] = [:]
    package var requests: [RequestKey: KnownRequest] = [:]

    package init() {}

    /// The statements that lock and read a batch's rows, in the lock order.
    static func lock(_ keys: IntakeKeys, _ windows: [LimitKey]) -> [Statement] {
        [
            PostgresLedger.lockPersons(keys.persons), PostgresLedger.lockWindows(windows),
            PostgresLedger.lockRequests(keys),
        ]
    }

    /// Decodes the answers to the statements of `lock`, which come first.
    init(_ answers: [Rows], _ keys: IntakeKeys) throws {
        persons = try PostgresLedger.persons(answers[0])
        windows = try PostgresLedger.windows(answers[1])
        requests = try PostgresLedger.requests(answers[2], keys.requests)
    }

    /// The verification of each slot.
    func slots(of keys: IntakeKeys) -> [SlotKey: VerificationID] {
        keys.slots.reduce(into: [:]) { $0[$1] = persons[$1.person]?[$1.purpose] }
    }

    /// Adds an empty row for each key of the batch without one; returns the statements that insert them.
    mutating func addMissing(_ keys: IntakeKeys, at now: Timestamp) -> [Statement] {
        let persons = Dictionary(
            uniqueKeysWithValues: keys.persons.filter { self.persons[$0] == nil }.map { ($0, Person(keptUntil: now)) }
        )
        let windows = Dictionary(
            uniqueKeysWithValues: keys.windows.filter { self.windows[$0] == nil }
                .map { ($0, WindowChange(LimitWindow(), under: [], at: now)) }
        )
        let requests = keys.newRequests(but: self.requests)
        self.persons.merge(persons) { $1 }
        self.windows.merge(windows.mapValues(\.window)) { $1 }
        self.requests.merge(requests) { $1 }
        return [
            PostgresLedger.insertPersons(persons), PostgresLedger.insertWindows(windows),
            PostgresLedger.insertRequests(requests),
        ]
    }
}
