// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Verification

/// The policy in force; a reload replaces it between two batches.
package final class PolicySource: Sendable {
    private let policy: Mutex<Policy>

    package init(_ policy: Policy) {
        self.policy = Mutex(policy)
    }

    package var current: Policy { policy.withLock(\.self) }

    package func replace(with policy: Policy) {
        self.policy.withLock { $0 = policy }
    }
}
