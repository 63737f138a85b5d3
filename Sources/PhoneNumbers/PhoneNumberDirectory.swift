// SPDX-License-Identifier: Apache-2.0

package import Verification

/// The facts about phone numbers, from numbering plans embedded by the build.
///
/// The facts equal those of libphonenumber at `PlanTable.embedded.date`; a range assigned later is invalid until `make
/// numbers` renews the plans, or a policy's `numberPlan` adds it.
package struct PhoneNumberDirectory: NumberDirectory {
    private let table = PlanTable.embedded

    /// The origin of the plans, such as `libphonenumber 9.0.43, 2026-11-06`.
    package static var release: String { "libphonenumber \(PlanTable.embedded.version), \(PlanTable.embedded.date)" }

    /// Loads the plans, so that no later lookup has to.
    package init() {}

    /// The facts about one number, in some tens of nanoseconds, without allocation, from any thread.
    ///
    /// The number is looked up as written, digit by digit. With a trunk prefix after the calling code (+44 0 7400…) it
    /// would ring the same phone as without, and must not count as a second recipient: no plan contains such numbers,
    /// so they are invalid.
    package func facts(of number: PhoneNumber) -> NumberFacts {
        table.facts(of: number.e164.utf8.dropFirst())
    }
}
