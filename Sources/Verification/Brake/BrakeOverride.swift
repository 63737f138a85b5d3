// SPDX-License-Identifier: Apache-2.0

package import Formats

/// An operator's order to the toll-fraud brake, in force until a time.
package struct BrakeOverride: Sendable, Equatable {
    package enum Scope: String, Sendable, CaseIterable {
        /// One number: the key is the first 8 bytes of the recipient's fingerprint.
        case phone
        case ip
        case prefix
        case range
        case region
    }

    package enum Action: String, Sendable, CaseIterable {
        /// No block stops a request of the scope.
        case allow

        /// The scope is blocked in every mode, and no probe opens it.
        case block

        /// Blocks of the region and of its ranges only record, since a launch brings new people whose approvals cannot
        /// be predicted.
        case launch
    }

    package let tenant: String
    package let scope: Scope
    package let key: Int64
    package let action: Action
    package let until: Timestamp

    /// The number of messages to unconfirmed people after which a launch is over; nil for none.
    package let maximum: Int64?

    /// The number of such messages up to now.
    package let used: Int64
    package let reason: String

    package init(
        tenant: String,
        scope: Scope,
        key: Int64,
        action: Action,
        until: Timestamp,
        maximum: Int64? = nil,
        used: Int64 = 0,
        reason: String
    ) {
        self.tenant = tenant
        self.scope = scope
        self.key = key
        self.action = action
        self.until = until
        self.maximum = maximum
        self.used = used
        self.reason = reason
    }

    /// True for a launch whose messages have left.
    package var isUsedUp: Bool { maximum.map { used >= $0 } ?? false }
}

extension BrakeOverride.Scope {
    package init(_ scope: BrakeScope) {
        switch scope {
        case .ip: self = .ip
        case .prefix: self = .prefix
        case .range: self = .range
        case .region: self = .region
        }
    }
}
