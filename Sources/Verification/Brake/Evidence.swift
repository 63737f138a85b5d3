// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc

/// The sums of one scope over the last hour's verifications, except those explained by a narrower scope's trip.
final class Evidence {
    let key: BrakeKey
    let region: String

    /// The expected part of approvals so far, summed over confirmed verifications; `weight` sums the others.
    var confirmedWeight = 0.0
    var weight = 0.0
    var confirmedApproved = 0
    var approved = 0
    var verifications = 0

    /// Of a region: those that have just begun.
    var recent = 0

    /// The verifications of the window that have not tripped this scope, in the order of their beginnings.
    var rows = RowQueue()

    /// For a region: its ranges and prefixes in the window.
    var narrow: Set<BrakeKey> = []

    /// For a prefix: its range.
    var range: BrakeKey?

    init(_ key: BrakeKey, region: String) {
        self.key = key
        self.region = region
    }

    /// True if the scope has at least half of the evidence for a trip, and too few approvals.
    func isSuspect(at rate: Double) -> Bool {
        let threshold = key.scope.threshold
        return rate * weight >= threshold.minimum / 2 && Double(approved) < rate * weight / threshold.ratio
    }

    /// True if the scope is off; an address that has been switched off may have verifications of before in memory.
    func isOff(by isOff: (BrakeScope, String) -> Bool) -> Bool {
        if key.scope != .ip { return isOff(key.scope, region) }
        return rows.allSatisfy { isOff(.ip, $0.scopes[0].region) }
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
        private var isRecent: Bool

        /// The narrowest scope whose trip explains the row, which then counts only for narrower scopes.
        var explainedBy: BrakeScope?

        init(_ id: UUIDValue, beganAt: Timestamp, isConfirmed: Bool, scopes: [Evidence], isOldest: Bool) {
            self.id = id
            self.beganAt = beganAt
            self.isConfirmed = isConfirmed
            self.scopes = scopes
            isRecent = !isOldest
            if isRecent { scopes[0].recent += 1 }
            for scope in scopes {
                scope.verifications += 1
                if isOldest { scope.rows.prepend(self) } else { scope.rows.append(self) }
            }
        }

        private func counts(for scope: BrakeScope) -> Bool { explainedBy.map { scope < $0 } ?? true }

        /// Applies a later reading; false if nothing changed.
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

        /// Removes the row from a tripped scope and from every wider one.
        func explain(by tripped: BrakeScope) {
            if let explainedBy, explainedBy <= tripped { return }
            becomeOlder()
            for scope in scopes where scope.key.scope >= tripped && counts(for: scope.key.scope) {
                scope.add(weight: -weight, approved: isApproved ? -1 : 0, isConfirmed: isConfirmed)
                scope.verifications -= 1
            }
            explainedBy = tripped
        }

        /// Takes the row out of those that have just begun.
        func becomeOlder() {
            if isRecent { scopes[0].recent -= 1 }
            isRecent = false
        }

        /// Removes the row from every scope.
        func leave() { explain(by: .ip) }
    }
}

/// The ranges and prefixes that are about to explain what their region lacks.
struct Suspects {
    /// The number of ranges or prefixes that can explain what a region lacks, whatever the others do.
    static let few = 16

    /// The part of the usual approvals that others must have where there are more.
    static let leastRate = 0.75

    var keys: Set<BrakeKey> = []
    var weight = 0.0
    var approved = 0
}

/// The approvals expected by now in a scope, and those observed.
package struct Shortfall: Sendable, Equatable {
    package let expected: Double
    package let observed: Int

    package init(expected: Double, observed: Int) {
        self.expected = expected
        self.observed = observed
    }

    /// Makes a shortfall from stored numbers: each is clamped to the range of a count, and NaN is 0.
    package init(storedExpected expected: Double, observed: Double) {
        func clamped(_ number: Double) -> Double { number.isNaN ? 0 : min(max(number, 0), 1e15) }
        self.init(expected: clamped(expected), observed: Int(clamped(observed)))
    }

    /// The surprise in nats, 0 without missing approvals.
    ///
    /// By Chernoff's bound for a Poisson tail, the chance of so few approvals is at most e^-surprise.
    package var surprise: Double {
        guard Double(observed) < expected else { return 0 }
        let observed = Double(observed)
        return expected - observed + (observed > 0 ? observed * log(observed / expected) : 0)
    }

    /// True if the evidence suffices; a sensitivity of 2 needs half of it.
    package func exceeds(_ threshold: BrakeScope.Threshold, sensitivity: Double) -> Bool {
        expected >= threshold.minimum && Double(observed) < expected / threshold.ratio
            && surprise >= threshold.need / sensitivity
    }
}

/// The curve of approvals over time: the part of all approvals that has arrived at each age of reading.
package struct ApprovalCurve: Sendable, Equatable {
    /// The age of a verification at which its row is read first.
    package static let firstReading = Duration.seconds(3)

    /// The ages at which it is read again.
    package static let ages: [Duration] = [15, 30, 60, 120, 240, 600].map { .seconds($0) }

    /// All ages at which it is read, the youngest first.
    package static let readings = [firstReading] + ages

    /// The minimum number of approvals that define a curve.
    package static let minimumApprovals = 200

    /// The approvals of a log-normal distribution that starts at 8 s, with a median of 22 s and a sigma of 0.95.
    package static let usual = ApprovalCurve(parts: [0.1140, 0.5, 0.8174, 0.9567, 0.9934, 0.9997])

    /// The parts by the index of the age, each 0…1.
    package let parts: [Double]

    private init(parts: [Double]) {
        self.parts = parts
    }

    /// The curve of a day's approvals, from their numbers at each age; nil if there are too few.
    ///
    /// - Parameter counts: the approvals up to each of `ages`, then all approvals.
    package init?(counts: [Int]) {
        guard counts.count == Self.ages.count + 1, let all = counts.last, all >= Self.minimumApprovals else {
            return nil
        }
        parts = counts.dropLast().map { min(1, Double($0) / Double(all)) }
    }
}

/// The part of verifications that are approved, shrunk towards a wider group's rate while there are few.
package struct ApprovalRate: Sendable, Equatable {
    /// The weight of the wider group's rate, as a number of verifications.
    package static let weight = 20.0

    /// The rate when nothing is known: in the field, about 65 % of SMS codes are typed in.
    package static let unknown = ApprovalRate(value: 0.65)

    package let value: Double

    private init(value: Double) {
        self.value = value
    }

    /// - Parameters:
    ///   - approved: the approved ones of `verifications`.
    ///   - verifications: those whose outcome is final, or the expected part of younger ones.
    ///   - parent: the wider group's rate.
    ///   - weight: the weight of the wider group's rate, as a number of verifications.
    package init(
        approved: Double,
        of verifications: Double,
        parent: ApprovalRate = .unknown,
        weight: Double = Self.weight
    ) {
        value = (approved + weight * parent.value) / (verifications + weight)
    }
}

/// Verifications in the order of their beginnings, of which the oldest leave.
///
/// A slice of an array would keep what has left alive until the array grows.
struct RowQueue: Sequence {
    private var rows: [Evidence.Row?] = []
    private var start = 0

    var first: Evidence.Row? { start < rows.count ? rows[start] : nil }

    var isEmpty: Bool { start == rows.count }

    mutating func append(_ row: Evidence.Row) {
        rows.append(row)
    }

    mutating func prepend(_ row: Evidence.Row) {
        if start == 0 {
            start = Swift.max(4, rows.count)
            rows.insert(contentsOf: repeatElement(nil, count: start), at: 0)
        }
        start -= 1
        rows[start] = row
    }

    mutating func removeFirst() {
        rows[start] = nil
        start += 1
        if start > 32, start * 2 > rows.count {
            rows.removeFirst(start)
            start = 0
        }
    }

    mutating func removeAll() {
        rows = []
        start = 0
    }

    func makeIterator() -> some IteratorProtocol<Evidence.Row> {
        rows[start...].lazy.compactMap(\.self).makeIterator()
    }
}
