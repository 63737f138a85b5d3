// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A verification in the state of one reading by the conversion reader.
package struct ConversionSample: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        /// Not approved yet, or never.
        case open
        case approved

        /// No message was sent, so nothing can be approved.
        case unsent

        /// No message is sent yet: a later reading decides.
        case waiting

        /// The provider reported fraud: it counts as final and not approved.
        case fraud
    }

    package let id: UUIDValue
    package let region: String
    package let client: Int64?
    package let prefix: Int64?
    package let range: Int64?
    package let isConfirmed: Bool
    package let outcome: Outcome

    /// The provider that accepted the newest message; nil if none did.
    package let provider: String?

    /// The provider that took the first message; nil if none has.
    package let firstProvider: String?

    /// The number of messages.
    package let sends: Int

    /// The time from the request to the approval; nil without one.
    package let approvedAfter: Duration?

    package init(
        id: UUIDValue,
        region: String,
        client: Int64?,
        prefix: Int64?,
        range: Int64?,
        isConfirmed: Bool,
        outcome: Outcome,
        provider: String? = nil,
        firstProvider: String? = nil,
        sends: Int = 1,
        approvedAfter: Duration? = nil
    ) {
        self.id = id
        self.region = region
        self.client = client
        self.prefix = prefix
        self.range = range
        self.isConfirmed = isConfirmed
        self.outcome = outcome
        self.provider = provider
        self.firstProvider = firstProvider ?? provider
        self.sends = sends
        self.approvedAfter = approvedAfter
    }

    /// True if the first message's code was approved, and no second message was needed for it.
    var isFirstApproved: Bool { outcome == .approved && sends == 1 }

    /// The scopes that judge the verification; confirmed people are judged by region alone.
    ///
    /// An IP address may ask for numbers of many regions: those where addresses are off say nothing of it.
    func keys(where isOff: (BrakeScope, String) -> Bool) -> [BrakeKey] {
        var keys = [BrakeKey(region: region)]
        if isConfirmed { return keys }
        if let range { keys.append(BrakeKey(.range, range)) }
        if let prefix { keys.append(BrakeKey(.prefix, prefix)) }
        if let client, !isOff(.ip, region) { keys.append(BrakeKey(.ip, client)) }
        return keys
    }
}
