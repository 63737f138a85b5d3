// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The facts of a request that the brake judges.
package struct BrakeSubject: Sendable {
    package let tenant: String
    package let keys: BrakeKeys
    package let region: Region

    /// Nil for a past request.
    package let number: PhoneNumber?
    let address: IPAddress?

    /// The first 8 bytes of the recipient's fingerprint.
    package let recipient: Int64

    /// True if the request's app is verified well enough to pass blocks of ranges and regions.
    let isTrusted: Bool

    /// True if the request repeats the code of a live verification.
    let isResend: Bool

    package init(
        tenant: String,
        keys: BrakeKeys,
        region: Region,
        number: PhoneNumber?,
        address: IPAddress?,
        recipient: Int64,
        isTrusted: Bool,
        isResend: Bool = false
    ) {
        self.tenant = tenant
        self.keys = keys
        self.region = region
        self.number = number
        self.address = address
        self.recipient = recipient
        self.isTrusted = isTrusted
        self.isResend = isResend
    }

    /// The key under which operators' orders store one number.
    package static func recipientKey(_ fingerprint: [UInt8]) -> Int64 {
        Int64(bitPattern: fingerprint.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    package func key(of scope: BrakeScope) -> BrakeKey? {
        switch scope {
        case .ip: keys.client.map { BrakeKey(.ip, $0) }
        case .prefix: keys.prefix.map { BrakeKey(.prefix, $0) }
        case .range: keys.range.map { BrakeKey(.range, $0) }
        case .region: BrakeKey(region: region.code)
        }
    }
}

extension BrakeSubject {
    /// Nil for a request that the brake does not judge: without a phone number, or to a test number.
    package init?(_ request: VerificationRequest, _ passed: Screening.Passed, isResend: Bool) {
        guard let keys = passed.brakeKeys, let region = passed.region, case .phone(let number) = request.recipient
        else { return nil }
        tenant = request.tenant
        self.keys = keys
        self.region = region
        self.number = number
        address = request.client?.ip
        recipient = Self.recipientKey(passed.slot.fingerprint)
        isTrusted = passed.tenant.brake.trusts(request.appVerification)
        self.isResend = isResend
    }
}

/// The effect of one scope's block on a request.
package enum BrakeEffect: Sendable, Equatable {
    /// The reason why blocks of a scope do not apply to a request.
    package enum Exemption: Sendable, Equatable {
        case confirmed
        case allowed

        /// An operator's order allows it.
        case ordered
        case trusted
        case resend
    }

    /// The reason why a block only records.
    package enum RecordingReason: Sendable, Equatable {
        case mode
        case fewApprovals
        case launch
    }

    /// The scope is not blocked.
    case none

    /// The policy does not use the scope.
    case off
    case exempt(Exemption)

    /// The request passes a half-open scope as a probe: its approval may end the block.
    case probe
    case recorded(RecordingReason)
    case refused(until: Timestamp)
}

/// The decision of the brake on a request.
package struct BrakeVerdict: Sendable, Equatable {
    package struct Stop: Sendable, Equatable {
        package let key: BrakeKey
        package let until: Timestamp
    }

    package var refusal: Stop?

    /// The narrowest scope that would refuse the request if it were enforced.
    package var recorded: BrakeKey?

    /// The half-open scopes that the request passes.
    package var probes: [BrakeKey] = []

    /// The narrowest scope that would refuse the request without an operator's order.
    package var overruled: Overruled?

    package struct Overruled: Sendable, Equatable {
        package let key: BrakeKey
        package let order: BrakeOverride.Action
    }
}
