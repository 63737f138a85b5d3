// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
import Synchronization

/// Whether a consumer is a member of its group, as far as its notices tell.
///
/// A member that gives partitions back in a rebalance stays one: it is given its new share in the same rebalance. Whether
/// brokers answer is not asked: a group that is out of reach takes the partitions away after the session's timeout.
package final class Membership: Sendable {
    private let state = Mutex(false)

    package init() {}

    /// Whether it has been given its share of the partitions, be it none.
    package var isMember: Bool { state.withLock(\.self) }

    package func note(_ notice: ConsumerNotice) {
        switch notice {
        case .assigned: state.withLock { $0 = true }
        case .lost: state.withLock { $0 = false }
        case .revoked, .brokersUnreachable, .brokersReachable, .cannotRead, .readsAgain, .error, .recordsLost,
            .producerTimes, .topicMadeAnew, .groupShared:
            break
        }
    }
}
