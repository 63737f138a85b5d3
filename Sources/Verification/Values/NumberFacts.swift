// SPDX-License-Identifier: Apache-2.0

/// What a numbering plan says of a phone number.
package struct NumberFacts: Sendable, Hashable {
    /// The region from the whole number, `XX` when no region's plan has it.
    package let region: Region

    /// The regions the number may belong to: the one found, or all that share its calling code.
    ///
    /// Sorted; empty when the calling code belongs to no region.
    package let candidates: [Region]

    /// Whether some region's plan has the number.
    package let isValid: Bool

    package let type: NumberType

    /// Which table the facts are from, which a refusal names.
    package let table: Table

    /// The tables of numbering plans, the later the stronger.
    package enum Table: Sendable, Hashable {
        /// The plans that the build embeds.
        case metadata

        /// The overrides of the policy in force.
        case policy
    }

    package init(
        region: Region,
        candidates: [Region],
        isValid: Bool,
        type: NumberType,
        table: Table = .metadata
    ) {
        self.region = region
        self.candidates = candidates
        self.isValid = isValid
        self.type = type
        self.table = table
    }
}

/// The kind of line behind a number, in libphonenumber's words.
package enum NumberType: String, Sendable, Hashable, CaseIterable {
    case mobile
    case fixedLine
    case fixedLineOrMobile
    case tollFree
    case premiumRate
    case sharedCost
    case voip
    case personalNumber
    case pager
    case uan
    case voicemail
    case unknown
}

/// Where the facts about a number come from.
package protocol NumberDirectory: Sendable {
    /// The facts about one number; total for every `PhoneNumber`, and without I/O.
    func facts(of number: PhoneNumber) -> NumberFacts
}
