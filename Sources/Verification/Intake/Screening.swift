// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The verdict of the stateless rules on a request.
package enum Screening: Sendable {
    case refused(Refusal)
    case passed(Passed)

    /// A test number until a time; from then on the verdict of the rules for other numbers.
    indirect case testNumber(Passed, until: Timestamp, then: Screening)

    package func at(_ now: Timestamp) -> Screening {
        guard case .testNumber(let passed, let until, let then) = self else { return self }
        return now < until ? .passed(passed) : then
    }

    /// The values for the later rules at every possible decision time.
    var possibleOutcomes: UpToTwo<Passed> {
        switch self {
        case .refused: UpToTwo()
        case .passed(let passed): UpToTwo(passed)
        case .testNumber(let passed, _, let then): UpToTwo(passed, then.possibleOutcomes.first)
        }
    }

    var isOfUnknownTenant: Bool {
        guard case .refused(let refusal) = self else { return false }
        return refusal.reason == .unknownTenant
    }

    /// The values that the later rules need of a request that passed.
    package final class Passed: Sendable {
        package let slot: SlotKey

        /// The phone number's region; nil on other channels.
        package let region: Region?
        package let tenant: TenantPolicy

        /// The windows that count the request: one for each scope that the tenant limits and the request has.
        package let limits: LimitKeys

        /// Set for a test number: it gets a fixed code, no message, and no limits.
        package let testNumber: TestNumber?

        /// The notes of rules that let the request pass but recorded something.
        package let notes: [String]

        /// The keys for the toll-fraud brake; nil without a phone number, and for a test number.
        package let brakeKeys: BrakeKeys?

        /// The price of the message for the tenant's budgets; nil if none pays for it.
        package let charge: BudgetCharge?

        package init(
            slot: SlotKey,
            region: Region?,
            tenant: TenantPolicy,
            limits: LimitKeys,
            testNumber: TestNumber? = nil,
            notes: [String] = [],
            brakeKeys: BrakeKeys? = nil,
            charge: BudgetCharge? = nil
        ) {
            self.slot = slot
            self.region = region
            self.tenant = tenant
            self.limits = limits
            self.testNumber = testNumber
            self.notes = notes
            self.brakeKeys = brakeKeys
            self.charge = charge
        }
    }
}

/// A list of at most two elements, without an array's allocation.
package struct UpToTwo<Element: Sendable>: Sequence, IteratorProtocol, Sendable {
    package private(set) var first: Element?
    private var second: Element?

    package init(_ first: Element? = nil, _ second: Element? = nil) {
        self.first = first ?? second
        self.second = first == nil ? nil : second
    }

    package mutating func next() -> Element? {
        defer { (first, second) = (second, nil) }
        return first
    }
}
