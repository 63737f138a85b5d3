// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The decisions of two policies on the same records, in numbers; it contains no recipient.
struct ReplayReport: Sendable {
    /// A group of requests of one tenant and region on which the policies differ in the same way.
    struct Flip: Hashable {
        let tenant: String
        let region: String
        let from: SimulatedDecision
        let to: SimulatedDecision
    }

    private(set) var records = 0
    private(set) var first: Timestamp?
    private(set) var last: Timestamp?
    private(set) var decisions: [SimulatedDecision.Kind: Pair<Int>] = [:]

    /// Rejected requests by rule.
    private(set) var refusals: [String: Pair<Int>] = [:]

    /// Messages by region, without those of test numbers.
    private(set) var sends: [String: Pair<Int>] = [:]
    private(set) var flips: [Flip: Int] = [:]

    /// The number of records that could not be sorted by time.
    var lateRecords = 0

    /// True when the replay was ended before the end of its range.
    var isInterrupted = false

    mutating func add(_ pair: Pair<SimulatedDecision>, tenant: String, region: String, at time: Timestamp) {
        records += 1
        first = min(first ?? time, time)
        last = max(last ?? time, time)
        count(pair.current, \.current, region)
        count(pair.candidate, \.candidate, region)
        guard pair.current != pair.candidate else { return }
        flips[Flip(tenant: tenant, region: region, from: pair.current, to: pair.candidate), default: 0] += 1
    }

    private mutating func count(
        _ decision: SimulatedDecision,
        _ side: WritableKeyPath<Pair<Int>, Int>,
        _ region: String
    ) {
        let none = Pair(current: 0, candidate: 0)
        decisions[decision.kind, default: none][keyPath: side] += 1
        if decision.kind == .rejected { refusals[decision.rule, default: none][keyPath: side] += 1 }
        if decision.kind == .sent { sends[region, default: none][keyPath: side] += 1 }
    }

    /// The flips, the most frequent first.
    var sortedFlips: [(flip: Flip, count: Int)] {
        flips.map { ($0.key, $0.value) }.sorted { left, right in
            left.count != right.count ? left.count > right.count : left.flip.order < right.flip.order
        }
    }

    /// The number of messages that the candidate saves: the current policy's sends minus its own.
    var sendsSaved: Int { sends.values.reduce(0) { $0 - $1.difference } }
}

extension ReplayReport.Flip {
    fileprivate var order: String { "\(tenant) \(region) \(from.text) \(to.text)" }
}

extension Pair<Int> {
    /// The candidate's count minus the current policy's.
    var difference: Int { candidate - current }
}
