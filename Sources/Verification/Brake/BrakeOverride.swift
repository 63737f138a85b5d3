// SPDX-License-Identifier: Apache-2.0

package import Formats

/// An operator's order to the toll-fraud brake, up to a time.
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
        /// Nothing stops a request of the scope.
        case allow

        /// The scope is blocked in every mode, and no probe opens it.
        case block

        /// Blocks of the region and of its ranges only record, since new people come whose approvals nobody knows.
        case launch
    }

    package let tenant: String
    package let scope: Scope
    package let key: Int64
    package let action: Action
    package let until: Timestamp

    /// The number of requests that a launch expects; for people to read.
    package let maximum: Int64?
    package let reason: String

    package init(
        tenant: String,
        scope: Scope,
        key: Int64,
        action: Action,
        until: Timestamp,
        maximum: Int64? = nil,
        reason: String
    ) {
        self.tenant = tenant
        self.scope = scope
        self.key = key
        self.action = action
        self.until = until
        self.maximum = maximum
        self.reason = reason
    }
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
