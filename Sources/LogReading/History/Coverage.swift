// SPDX-License-Identifier: Apache-2.0

import Formats

/// The times covered by heartbeats of any worker, as merged ranges in bounded memory.
struct Coverage {
    /// The maximum number of ranges; beyond it, ranges with short gaps between them are merged.
    static let most = 1000

    /// The ranges, sorted and disjoint.
    private(set) var ranges: [Range<Timestamp>] = []

    /// The longest gap that is ignored: a worker writes a heartbeat a moment after the interval that it covers.
    private var slack = Duration.milliseconds(100)

    mutating func add(_ range: Range<Timestamp>) {
        // A new range is usually the latest, so both searches start at the end.
        let first = (ranges.lastIndex { $0.upperBound + slack < range.lowerBound } ?? -1) + 1
        let end = (ranges.lastIndex { $0.lowerBound <= range.upperBound + slack } ?? -1) + 1
        let touched = ranges[first..<end]
        let from = min(range.lowerBound, touched.first?.lowerBound ?? range.lowerBound)
        let to = max(range.upperBound, touched.last?.upperBound ?? range.upperBound)
        ranges.replaceSubrange(first..<end, with: [from..<to])
        while ranges.count > Self.most { join() }
    }

    /// Doubles the ignored gap and merges the ranges that are no further apart.
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

    /// The covered seconds of a time range.
    func seconds(in time: Range<Timestamp>) -> Double {
        let microseconds = ranges.reduce(Int64(0)) { sum, range in
            let part = range.clamped(to: time)
            return sum + (part.upperBound - part.lowerBound).microseconds
        }
        return Double(microseconds) / 1e6
    }
}
