// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A value that may be replaced as a whole while a worker runs, such as the policy or the keys.
///
/// Code that processes a batch reads `current` once, so that the whole batch uses the same value.
package final class InForce<Value: Sendable>: Sendable {
    private let state: Mutex<(value: Value, revision: Int)>

    package init(_ value: Value) {
        state = Mutex((value, 0))
    }

    package var current: Value { state.withLock(\.value) }

    /// The number of replacements so far.
    package var revision: Int { state.withLock(\.revision) }

    package func replace(with value: Value) {
        state.withLock { $0 = (value, $0.revision + 1) }
    }
}
