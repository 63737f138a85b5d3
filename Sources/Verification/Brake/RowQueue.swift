// SPDX-License-Identifier: Apache-2.0

/// Verifications in the order of their first reading, of which the oldest leave.
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
