// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Texts compared by their UTF-8 bytes: Swift takes letters for equal that only look alike.
extension String {
    /// Whether both texts are the same bytes.
    func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && order(of: other) == 0
    }

    /// Whether the bytes come before those of the other text, as in PostgreSQL's collation C.
    func hasBytes(before other: String) -> Bool {
        let order = order(of: other)
        return order == 0 ? utf8.count < other.utf8.count : order < 0
    }

    /// How the bytes differ from the other text's as far as both go: below 0 when they come before them, 0 for not at all.
    private func order(of other: String) -> Int32 {
        let order: Int32?? = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard let start = own.baseAddress, let otherStart = others.baseAddress else { return 0 }
                return memcmp(start, otherStart, min(own.count, others.count))
            }
        }
        if let order = order ?? nil { return order }
        let differing = zip(utf8, other.utf8).first { $0 != $1 }
        return differing.map { $0 < $1 ? -1 : 1 } ?? 0
    }
}
