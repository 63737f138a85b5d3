// SPDX-License-Identifier: Apache-2.0

import Verification

/// The times that heartbeats of any worker tell of, however many tell of the same, in bounded memory.
struct Coverage {
    /// Beyond so many, those with little between them become one.
    static let most = 1000

    /// In order, with time between them.
    private(set) var ranges: [Range<Timestamp>] = []

    /// So little between two heartbeats is no gap: a worker writes one a moment after the interval that it tells of.
    private var slack = Duration.milliseconds(100)

    mutating func add(_ range: Range<Timestamp>) {
        // What comes is the latest as a rule, so both places are looked for from the end.
        let first = (ranges.lastIndex { $0.upperBound + slack < range.lowerBound } ?? -1) + 1
        let end = (ranges.lastIndex { $0.lowerBound <= range.upperBound + slack } ?? -1) + 1
        let touched = ranges[first..<end]
        let from = min(range.lowerBound, touched.first?.lowerBound ?? range.lowerBound)
        let to = max(range.upperBound, touched.last?.upperBound ?? range.upperBound)
        ranges.replaceSubrange(first..<end, with: [from..<to])
        while ranges.count > Self.most { join() }
    }

    /// Makes one of those between which there is little, and from then on takes twice as much for little.
    private mutating func join() {
        slack = slack * 2
        ranges = ranges.reduce(into: []) { joined, range in
            if let last = joined.last, range.lowerBound - last.upperBound <= slack {
                joined[joined.count - 1] = last.lowerBound..<range.upperBound
            } else {
                joined.append(range)
            }
        }
    }

    /// The seconds of a time that any worker told of.
    func seconds(in time: Range<Timestamp>) -> Double {
        let microseconds = ranges.reduce(Int64(0)) { sum, range in
            let part = range.clamped(to: time)
            return sum + (part.upperBound - part.lowerBound).microseconds
        }
        return Double(microseconds) / 1e6
    }
}
