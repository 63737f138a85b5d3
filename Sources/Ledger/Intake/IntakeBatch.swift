// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

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
