// SPDX-License-Identifier: Apache-2.0

/// What a range of phone numbers is, where the plans of the build are older or wrong.
package struct NumberPlanOverride: Sendable, Hashable {
    /// What the numbers of the range are.
    package enum Verdict: Sendable, Hashable {
        /// Numbers of a region's plan; `Region.unknown` for a calling code that belongs to no region.
        case valid(Region, NumberType)

        /// No plan's numbers: the range is switched off.
        case invalid
    }

    /// The first digits after the `+`, calling code included: 1 to 15.
    package let prefix: String

    /// How many digits the numbers have after the `+`, calling code included.
    package let lengths: Set<Int>
    package let verdict: Verdict

    /// The lengths that a `PhoneNumber` can have.
    package static let possibleLengths = 7...15

    package init(prefix: String, lengths: Set<Int>, verdict: Verdict) {
        self.prefix = prefix
        self.lengths = lengths
        self.verdict = verdict
    }
}
