// SPDX-License-Identifier: Apache-2.0

/// What became of a claimed send.
///
/// A class, since it is large, never changes, and goes from stage to stage.
package final class SendResult: Sendable {
    package let send: SendReference
    package let disposition: SendDisposition

    /// Calls to providers made for the send, earlier claims included, but those to providers that refuse us altogether.
    package let attempts: Int16
    package let attempt: Attempt?

    /// The provider that may have the message from before it was repeated.
    package let doubtful: String?

    /// The providers that refused the message.
    package let refusers: [String]

    /// The verification as it was when the send was claimed, where that is known.
    package let verification: StoredVerification?

    /// The call to a provider that is told.
    package struct Attempt: Sendable, Equatable {
        package let provider: String
        package let messageID: String?

        /// Of an SMS.
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
