// SPDX-License-Identifier: Apache-2.0

package import Verification

/// The facts about phone numbers: a dated table of corrections, and libphonenumber's metadata for all else.
///
/// The metadata are as old as the installed library; the table has what numbering plans have changed since then. A change
/// that neither knows shows as an invalid number.
package struct PhoneNumberDirectory: NumberDirectory {
    private let overrides: NumberPlan

    /// Loads the metadata, so that no later lookup pays for it.
    ///
    /// Who has none would refuse everybody: a library that is installed without them, or with others, ends the process.
    package init(overrides: NumberPlan = NumberPlanTable.builtIn) {
        self.overrides = overrides
        precondition(PlanFacts(e164: "+10000000").isAnswered, "libphonenumber's metadata cannot be read")
    }

    /// The facts about one number, in a few microseconds and from any thread.
    package func facts(of number: PhoneNumber) -> NumberFacts {
        overrides.facts(of: number, as: .builtIn) { factsFromMetadata(of: number) }
    }

    /// What the installed metadata say, whatever their age.
    private func factsFromMetadata(of number: PhoneNumber) -> NumberFacts {
        let plan = PlanFacts(e164: number.e164)
        return NumberFacts(
            region: plan.region ?? .unknown,
            candidates: plan.region.map { [$0] } ?? plan.regionsOfCallingCode,
            isValid: plan.isValid,
            type: plan.type
        )
    }
}
