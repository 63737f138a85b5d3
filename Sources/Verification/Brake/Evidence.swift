// SPDX-License-Identifier: Apache-2.0

import Formats

/// The sums of one scope over the verifications of the last hour that no narrower trip explains.
final class Evidence {
    let key: BrakeKey
    let region: String

    /// The sum of the curve's parts: confirmed verifications, then others.
    var confirmedWeight = 0.0
    var weight = 0.0
    var confirmedApproved = 0
    var approved = 0
    var verifications = 0

    /// The verifications of the window that have not tripped this scope, in the order of their first reading.
    var rows = RowQueue()

    /// Of a region: its ranges and prefixes in the window.
    var narrow: Set<BrakeKey> = []

    /// Of a prefix: its range.
    var range: BrakeKey?

    init(_ key: BrakeKey, region: String) {
        self.key = key
        self.region = region
    }

    /// True if half the least evidence of a trip is there, with too few approvals.
    func isSuspect(at rate: Double) -> Bool {
        let threshold = key.scope.threshold
        return rate * weight >= threshold.minimum / 2 && Double(approved) < rate * weight / threshold.ratio
    }

    func add(weight change: Double, approved approvals: Int, isConfirmed: Bool) {
        if isConfirmed {
            confirmedWeight += change
            confirmedApproved += approvals
        } else {
            weight += change
            approved += approvals
        }
    }

    /// One verification of the window.
    final class Row {
        let id: UUIDValue
        let beganAt: Timestamp
        let isConfirmed: Bool

        /// The region, then narrower scopes.
        let scopes: [Evidence]
        var weight = 0.0
        var isApproved = false
        var isUnsent = false

        /// The narrowest scope whose trip explains the row: it counts for narrower scopes only.
        var explainedBy: BrakeScope?

        init(_ id: UUIDValue, beganAt: Timestamp, isConfirmed: Bool, scopes: [Evidence]) {
            self.id = id
            self.beganAt = beganAt
            self.isConfirmed = isConfirmed
            self.scopes = scopes
            for scope in scopes {
                scope.verifications += 1
                scope.rows.append(self)
            }
        }

        private func counts(for scope: BrakeScope) -> Bool { explainedBy.map { scope < $0 } ?? true }

        /// Takes a later reading; false if it is the same.
        func set(weight new: Double, isApproved approved: Bool) -> Bool {
            let change = new - weight
            let approvals = (approved ? 1 : 0) - (isApproved ? 1 : 0)
            (weight, isApproved) = (new, approved)
            if change == 0, approvals == 0 { return false }
            for scope in scopes where counts(for: scope.key.scope) {
                scope.add(weight: change, approved: approvals, isConfirmed: isConfirmed)
            }
            return true
        }

        /// Takes the row out of a scope that has tripped and out of every wider one.
        func explain(by tripped: BrakeScope) {
            if let explainedBy, explainedBy <= tripped { return }
            for scope in scopes where scope.key.scope >= tripped && counts(for: scope.key.scope) {
                scope.add(weight: -weight, approved: isApproved ? -1 : 0, isConfirmed: isConfirmed)
                scope.verifications -= 1
            }
            explainedBy = tripped
        }

        /// Takes the row out of every scope.
        func leave() { explain(by: .ip) }
    }
}
