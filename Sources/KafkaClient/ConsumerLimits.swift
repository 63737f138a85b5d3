// SPDX-License-Identifier: Apache-2.0

/// Limits of the records that a consumer keeps in memory for a busy program.
package struct ConsumerLimits: Hashable, Sendable {
    /// The number of records at which reading stops.
    package let highWater: Int

    /// The number of records at which reading resumes, always below `highWater`.
    package let lowWater: Int

    /// The number of bytes at which reading stops; it resumes at half of them.
    package let maximumBytes: Int

    package init(highWater: Int = 2000, lowWater: Int = 1000, maximumBytes: Int = 32 << 20) {
        self.highWater = max(highWater, 1)
        self.lowWater = min(max(lowWater, 0), self.highWater - 1)
        self.maximumBytes = max(maximumBytes, 1)
    }
}
