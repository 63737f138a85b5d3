// SPDX-License-Identifier: Apache-2.0

import Formats

/// A delivery event of the fleet, as the page shows it.
package struct SandboxDelivery: Sendable, Hashable, Codable {
    package let requestId: String
    package let verificationId: String?
    package let tenant: String
    package let channel: String?
    package let purpose: String?
    package let status: String
    package let reason: String?
    /// The masked recipient.
    package let recipient: String?
    package let region: String?
    package let provider: String?
    /// Our own id of the message, and the provider's.
    package let sendId: String?
    package let providerMessageId: String?
    package let occurredAt: String

    /// Reads the value of a record; nil when it is no delivery event.
    package init?(_ value: some Collection<UInt8>) {
        guard
            let event = JSONValue(body: value)?.object, let requestID = event.text("requestId"),
            let status = event.text("status"), let occurredAt = event.text("occurredAt")
        else { return nil }
        (requestId, self.status, self.occurredAt) = (requestID, status, occurredAt)
        verificationId = event.text("verificationId")
        tenant = event.text("tenant") ?? ""
        channel = event.text("channel")
        purpose = event.text("purpose")
        reason = event.text("reason")
        let person = event.object("recipient")
        (recipient, region) = (person?.text("masked"), person?.text("region"))
        let send = event.object("send")
        (provider, sendId) = (send?.text("provider"), send?.text("id"))
        providerMessageId = send?.text("providerMessageId")
    }

    /// True when the event is about a message with one of these ids.
    func isAbout(_ ids: [String]) -> Bool {
        [sendId, providerMessageId].contains { id in id.map(ids.contains) ?? false }
    }
}
