// SPDX-License-Identifier: Apache-2.0

/// How much a consumer holds in memory for a program that is busy.
package struct ConsumerLimits: Hashable, Sendable {
    /// Reading stops at so many records.
    package let highWater: Int

    /// Reading goes on at so many, always below `highWater`.
    package let lowWater: Int

    /// Reading stops at so many bytes, and goes on at half of them.
    package let maximumBytes: Int

    package init(highWater: Int = 2000, lowWater: Int = 1000, maximumBytes: Int = 32 << 20) {
        self.highWater = max(highWater, 1)
        self.lowWater = min(max(lowWater, 0), self.highWater - 1)
        self.maximumBytes = max(maximumBytes, 1)
    }
}
