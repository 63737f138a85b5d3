// SPDX-License-Identifier: Apache-2.0

package import Verification

/// What a worker holds at one moment, and how its providers are.
package struct Load: Sendable {
    package let inFlight: Int
    package let maxInFlight: Int
    package let providers: [String: ProviderHealth.State]
}

/// The records of the requests' topic that this worker has not read yet.
package struct Lag: Sendable {
    /// By partition that it owns.
    package var records: [Int32: Int64]

    /// How long the oldest of all has been there.
    package var oldest: Duration

    package init(records: [Int32: Int64] = [:], oldest: Duration = .zero) {
        (self.records, self.oldest) = (records, oldest)
    }
}
