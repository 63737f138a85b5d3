// SPDX-License-Identifier: Apache-2.0

package import Formats

/// One claim of a send, with the data needed to settle it.
package struct SendReference: Sendable, Equatable {
    package let id: SendID
    package let verificationID: VerificationID

    /// The fencing token: a write with an older one changes nothing.
    package let fence: Int32

    /// The number of the send within its verification: 1, 2, ….
    package let number: Int16
    package let requestID: String
    package let resendWindow: Duration

    /// The validity that begins with this send; nil if the send repeats a code.
    package let validity: Duration?
    package let trace: TraceContext?

    /// The time when the request's record was appended to its topic; only the worker that decided knows it.
    package let appendedAt: Timestamp?

    package init(
        id: SendID,
        verificationID: VerificationID,
        fence: Int32,
        number: Int16,
        requestID: String,
        resendWindow: Duration,
        validity: Duration?,
        trace: TraceContext?,
        appendedAt: Timestamp? = nil
    ) {
        self.id = id
        self.verificationID = verificationID
        self.fence = fence
        self.number = number
        self.requestID = requestID
        self.resendWindow = resendWindow
        self.validity = validity
        self.trace = trace
        self.appendedAt = appendedAt
    }

    /// Compares the claims; `appendedAt` is ignored, since only the deciding worker knows it.
    package static func == (left: SendReference, right: SendReference) -> Bool {
        left.id == right.id && left.verificationID == right.verificationID && left.fence == right.fence
            && left.number == right.number && left.requestID == right.requestID
            && left.resendWindow == right.resendWindow && left.validity == right.validity && left.trace == right.trace
    }

    package var reclaimed: SendReference {
        SendReference(
            id: id,
            verificationID: verificationID,
            fence: fence &+ 1,
            number: number,
            requestID: requestID,
            resendWindow: resendWindow,
            validity: validity,
            trace: trace,
            appendedAt: appendedAt
        )
    }
}
