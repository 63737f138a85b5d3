// SPDX-License-Identifier: Apache-2.0

package import Verification

/// The facts about phone numbers, from the numbering plans that the build embeds.
///
/// They are libphonenumber's answers of `PlanTable.embedded.date`; a range that was handed out later is invalid until
/// `make numbers` renews the plans, or a policy's `numberPlan` has it.
package struct PhoneNumberDirectory: NumberDirectory {
    private let table = PlanTable.embedded

    /// The origin of the plans, such as `libphonenumber 9.0.43, 2026-11-06`.
    package static var release: String { "libphonenumber \(PlanTable.embedded.version), \(PlanTable.embedded.date)" }

    /// Loads the plans, so that no later lookup pays for it.
    package init() {}

    /// The facts about one number, in some tens of nanoseconds, without allocation, from any thread.
    ///
    /// The number is looked up as it is written, digit by digit. A trunk prefix behind the calling code (+44 0 7400…) rings
    /// the same phone as the number without it, and must not count as a second recipient: no plan has it.
    package func facts(of number: PhoneNumber) -> NumberFacts {
        table.facts(of: number.e164.utf8.dropFirst())
    }
}
