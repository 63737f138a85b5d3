// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What is in force now and may be replaced as a whole while a worker runs: the policy, the keys.
///
/// Whoever works on a batch asks once for it, so that everything in the batch is made by the same.
package final class InForce<Value: Sendable>: Sendable {
    private let state: Mutex<(value: Value, revision: Int)>

    package init(_ value: Value) {
        state = Mutex((value, 0))
    }

    package var current: Value { state.withLock(\.value) }

    /// How often it has been replaced.
    package var revision: Int { state.withLock(\.revision) }

    package func replace(with value: Value) {
        state.withLock { $0 = (value, $0.revision + 1) }
    }
}

package typealias KeySource = InForce<CodeKeys>
