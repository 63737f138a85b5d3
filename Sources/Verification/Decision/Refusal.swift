// SPDX-License-Identifier: Apache-2.0

/// A `rejected` decision: its reason, the rule that made it, and the field at fault where there is one.
package struct Refusal: Sendable, Equatable {
    package let reason: RejectionReason
    package let rule: String
    package let field: String?

    /// What the event can tell of the recipient.
    package let region: Region?

    /// Whether tenant, shape or number refused, which come before the request id and the time.
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
