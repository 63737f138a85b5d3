// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What is in force now and may be replaced as a whole while a worker runs: the policy, the keys.
///
/// Whoever works on a batch asks once for it, so that everything in the batch is made by the same.
package final class InForce<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    package init(_ value: Value) {
        self.value = Mutex(value)
    }

    package var current: Value { value.withLock(\.self) }

    package func replace(with value: Value) {
        self.value.withLock { $0 = value }
    }
}

package typealias KeySource = InForce<CodeKeys>
