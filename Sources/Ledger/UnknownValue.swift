// SPDX-License-Identifier: Apache-2.0

import Verification

/// The error for a row with a value that this version does not know, written by a newer worker.
///
/// The row is left to newer workers, like one that another transaction locks.
struct UnknownValue: BatchFailure {
    var isTimeout: Bool { false }
    var isLockConflict: Bool { true }
}

extension Sequence {
    /// Maps the rows, and skips those with a value that this version does not know.
    func mapKnown<Value>(_ transform: (Element) throws -> Value) rethrows -> [Value] {
        try compactMap { row in
            do { return try transform(row) } catch is UnknownValue { return nil }
        }
    }
}
