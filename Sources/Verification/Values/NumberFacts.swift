// SPDX-License-Identifier: Apache-2.0

/// The facts about a phone number by a numbering plan.
package struct NumberFacts: Sendable, Hashable {
    /// The region of the whole number; `XX` if no region's plan contains it.
    package let region: Region

    /// The regions that the number may belong to: the one found, or all that share its calling code.
    ///
    /// Sorted; empty if the calling code belongs to no region.
    package let candidates: [Region]

    /// True if some region's plan contains the number.
    package let isValid: Bool

    package let type: NumberType

    /// The table that the facts are from, which a refusal names.
    package let table: Table

    /// The tables of numbering plans; later ones override earlier ones.
    package enum Table: Sendable, Hashable {
        /// The plans embedded in the build.
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

/// The type of line of a number, in libphonenumber's terms.
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

package protocol NumberDirectory: Sendable {
    /// The facts about one number; total for every `PhoneNumber`, and without I/O.
    func facts(of number: PhoneNumber) -> NumberFacts
}
