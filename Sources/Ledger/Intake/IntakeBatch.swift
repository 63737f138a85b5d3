// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
package import Verification

/// A batch of requests: the candidates to decide now with their keys, and those that wait for a lock.
struct IntakeBatch: Sendable {
    private let all: [Candidate]
    private let rules: IntakeRules

    /// The candidates to decide now.
    let free: [Candidate]
    let keys: IntakeKeys

    /// The time by which the keys were chosen: if the clock is set back, no late request becomes timely again.
    let notBefore: Timestamp?

    /// Defers the candidates that need rows found to be locked.
    init(_ candidates: [Candidate], by rules: IntakeRules, besides locked: LockedKeys?) {
        self.init(candidates, candidates, rules, locked)
    }

    var purse: BudgetPurse { rules.purse }

    private init(_ all: [Candidate], _ candidates: [Candidate], _ rules: IntakeRules, _ locked: LockedKeys?) {
        self.all = all
        self.rules = rules
        free = locked?.free(among: candidates, by: rules) ?? candidates
        keys = IntakeKeys(free, by: rules, besides: locked)
        notBefore = locked?.now
    }

    /// The batch that also defers the candidates that need these rows.
    func besides(_ locked: LockedKeys) -> IntakeBatch { IntakeBatch(all, free, rules, locked) }

    /// The candidates that wait for a lock, in order.
    var waiting: [Candidate] {
        if free.count == all.count { return [] }
        let places = Set(free.map(\.place))
        return all.filter { !places.contains($0.place) }
    }

    /// Decides by these facts; leaves out changes of request rows that another transaction locks.
    func decide(_ facts: IntakeFacts) -> IntakeChanges {
        var changes = rules.decide(free, facts: facts)
        for candidate in keys.unlockable { changes.requests[candidate.key] = nil }
        return changes
    }
}

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
        windows = try PostgresLedger.windows(answers[1], of: keys.windows)
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
