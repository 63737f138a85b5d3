// SPDX-License-Identifier: Apache-2.0

/// Finds the known key that a mistyped one most likely means.
package enum NearestKey {
    /// The key of `known` that differs from `text` by case or by at most a third of its letters, or nil.
    package static func of(_ text: String, among known: [String]) -> String? {
        guard text.utf8.count <= 64 else { return nil }
        let wanted = Array(text.lowercased().utf8)
        let ranked = known.map { (key: $0, distance: distance(wanted, Array($0.lowercased().utf8))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.key.utf8.count / 3) ? best.key : nil
    }

    /// The edit distance: the least number of bytes inserted, deleted, replaced or swapped with their neighbour.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for (column, other) in right.enumerated() {
                let replaced = previous[column] + (byte == other ? 0 : 1)
                var least = min(replaced, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                    least = min(least, beforePrevious[column - 1] + 1)
                }
                current.append(least)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[right.count]
    }
}
