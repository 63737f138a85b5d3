// SPDX-License-Identifier: Apache-2.0

/// A correction for a range of phone numbers whose plan in this build is outdated or wrong.
package struct NumberPlanOverride: Sendable, Hashable {
    package enum Verdict: Sendable, Hashable {
        /// Valid numbers of a region's plan; `Region.unknown` for a calling code that belongs to no region.
        case valid(Region, NumberType)

        /// Invalid numbers: the range is disabled.
        case invalid
    }

    /// The first 1 to 15 digits after the `+`, calling code included.
    package let prefix: String

    /// The numbers of digits after the `+`, calling code included.
    package let lengths: Set<Int>
    package let verdict: Verdict

    package static let possibleLengths = 7...15

    package init(prefix: String, lengths: Set<Int>, verdict: Verdict) {
        self.prefix = prefix
        self.lengths = lengths
        self.verdict = verdict
    }
}
