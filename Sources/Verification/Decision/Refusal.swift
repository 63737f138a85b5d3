// SPDX-License-Identifier: Apache-2.0

/// A `rejected` decision: its reason, the rule that refused, and the invalid field if there is one.
package struct Refusal: Sendable, Equatable {
    package let reason: RejectionReason
    package let rule: String
    package let field: String?

    /// The recipient's region for the event; nil if unknown.
    package let region: Region?

    /// True for a refusal by tenant, shape or number: rules that are checked before the request id and the time.
    var comesBeforeID: Bool {
        switch reason {
        case .unknownTenant, .invalidRequest, .invalidPhoneNumber: true
        default: false
        }
    }

    package init(_ reason: RejectionReason, rule: String, field: String? = nil, region: Region? = nil) {
        self.reason = reason
        self.rule = rule
        self.field = field
        self.region = region
    }
}
