// SPDX-License-Identifier: Apache-2.0

package import Verification

/// The sends in flight and the providers' health at one moment.
package struct Load: Sendable {
    package let inFlight: Int
    package let maxInFlight: Int
    package let providers: [String: ProviderHealth.State]
}

/// The records of the requests' topic that this worker has not read yet.
package struct Lag: Sendable {
    /// Unread records by partition, for the worker's own partitions.
    package var records: [Int32: Int64]

    /// Age of the oldest unread record.
    package var oldest: Duration

    package init(records: [Int32: Int64] = [:], oldest: Duration = .zero) {
        (self.records, self.oldest) = (records, oldest)
    }
}
