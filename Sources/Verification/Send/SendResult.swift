// SPDX-License-Identifier: Apache-2.0

/// The result of a claimed send.
///
/// A class, since it is large, never changes, and is passed from stage to stage.
package final class SendResult: Sendable {
    package let send: SendReference
    package let disposition: SendDisposition

    /// The calls to providers over all claims of the send, except those to misconfigured providers.
    package let attempts: Int16
    package let attempt: Attempt?

    /// The provider that may have the message from before the repetition.
    package let doubtful: String?

    package let refusers: [String]

    /// The verification as of the claim, if known.
    package let verification: StoredVerification?

    /// The call to a provider that the event reports.
    package struct Attempt: Sendable, Equatable {
        package let provider: String
        package let messageID: String?

        /// The number of SMS segments; nil on other channels.
        package let segments: Int?
        package let encoding: String?
        package let errorCode: String?

        package init(provider: String, messageID: String?, segments: Int?, encoding: String?, errorCode: String?) {
            self.provider = provider
            self.messageID = messageID
            self.segments = segments
            self.encoding = encoding
            self.errorCode = errorCode
        }
    }

    package init(
        send: SendReference,
        disposition: SendDisposition,
        attempts: Int16,
        attempt: Attempt?,
        doubtful: String? = nil,
        refusers: [String] = [],
        verification: StoredVerification? = nil
    ) {
        self.verification = verification
        self.send = send
        self.disposition = disposition
        self.attempts = attempts
        self.attempt = attempt
        self.doubtful = doubtful
        self.refusers = refusers
    }
}
