// SPDX-License-Identifier: Apache-2.0

/// What the rules without memory say of a request.
package enum Screening: Sendable {
    case refused(Refusal)
    case passed(Passed)

    /// A test number until a time, and from then on whatever the rules for other numbers say.
    indirect case testNumber(Passed, until: Timestamp, then: Screening)

    /// What is said at a time.
    package func at(_ now: Timestamp) -> Screening {
        guard case .testNumber(let passed, let until, let then) = self else { return self }
        return now < until ? .passed(passed) : then
    }

    /// All that a request may carry on with, whatever the time.
    var possiblyPassed: [Passed] {
        switch self {
        case .refused: []
        case .passed(let passed): [passed]
        case .testNumber(let passed, _, let then): [passed] + then.possiblyPassed
        }
    }

    var isOfUnknownTenant: Bool {
        guard case .refused(let refusal) = self else { return false }
        return refusal.reason == .unknownTenant
    }

    /// What a request that got through carries on with.
    package final class Passed: Sendable {
        package let slot: SlotKey

        /// Of a phone number.
        package let region: Region?
        package let tenant: TenantPolicy

        /// The windows that the request counts in: its recipient's, and its IP address's where it has one.
        package let limits: [LimitKey]

        /// Set for a test number: a fixed code, no message, no window and no limit.
        package let testNumber: TestNumber?

        /// Rules that saw something to record and let the request through.
        package let notes: [String]

        package init(
            slot: SlotKey,
            region: Region?,
            tenant: TenantPolicy,
            limits: [LimitKey],
            testNumber: TestNumber? = nil,
            notes: [String] = []
        ) {
            self.slot = slot
            self.region = region
            self.tenant = tenant
            self.limits = limits
            self.testNumber = testNumber
            self.notes = notes
        }
    }
}
