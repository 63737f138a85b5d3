// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Compares texts by their UTF-8 bytes: Swift's `==` ignores differences between canonically equivalent texts.
extension String {
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && order(of: other) == 0
    }

    /// True if the bytes sort before the other text's, as in PostgreSQL's collation C.
    package func hasBytes(before other: String) -> Bool {
        let order = order(of: other)
        return order == 0 ? utf8.count < other.utf8.count : order < 0
    }

    /// Compares the bytes up to the shorter length: negative if this text sorts first, 0 if they are equal.
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
