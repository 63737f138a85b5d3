// SPDX-License-Identifier: Apache-2.0

import Verification

/// A row has a value that this version does not know: a newer worker has written it.
///
/// Such a row is left to newer workers, like one that another transaction locks.
struct UnknownValue: BatchFailure {
    var isTimeout: Bool { false }
    var isLockConflict: Bool { true }
}

extension Sequence {
    /// Maps the rows, and leaves out those with a value that this version does not know.
    func mapKnown<Value>(_ transform: (Element) throws -> Value) rethrows -> [Value] {
        try compactMap { row in
            do { return try transform(row) } catch is UnknownValue { return nil }
        }
    }
}
