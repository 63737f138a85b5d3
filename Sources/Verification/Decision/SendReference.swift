// SPDX-License-Identifier: Apache-2.0

/// One claim of a send: what is needed to settle it.
package struct SendReference: Sendable, Equatable {
    package let id: SendID
    package let verificationID: VerificationID

    /// The fencing token: a write that names an older one changes nothing.
    package let fence: Int32

    /// 1, 2, … within the verification.
    package let number: Int16
    package let requestID: String
    package let resendWindow: Duration

    /// Fresh validity from the moment of this send; nil when it repeats a code.
    package let validity: Duration?
    package let trace: TraceContext?

    /// When the request's record was appended to its topic; only the worker that decided knows it.
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

    /// Whether both are the same claim, whichever worker speaks of it: only one knows `appendedAt`.
    package static func == (left: SendReference, right: SendReference) -> Bool {
        left.id == right.id && left.verificationID == right.verificationID && left.fence == right.fence
            && left.number == right.number && left.requestID == right.requestID
            && left.resendWindow == right.resendWindow && left.validity == right.validity && left.trace == right.trace
    }

    /// The claim after this one.
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
