// SPDX-License-Identifier: Apache-2.0

/// How far one delivery came, and how it ended.
package struct SMTPResult: Sendable, Hashable {
    /// The last command that was sent, or what stands for one.
    package let step: SMTPStep

    /// The server's last complete answer to that step; nil when none came.
    package let reply: Int?

    /// Whether the message's end may have been sent: before that no server has taken the message.
    package let isComplete: Bool

    /// What went wrong beside the answer.
    package let failure: SMTPFailure?

    package init(step: SMTPStep, reply: Int?, isComplete: Bool = false, failure: SMTPFailure? = nil) {
        self.step = step
        self.reply = reply
        self.isComplete = isComplete
        self.failure = failure
    }
}

/// The steps of a session, in their order.
package enum SMTPStep: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// From the connection to the server's first words.
    case greeting
    case hello
    case startTLS
    case authentication
    case sender
    case recipient
    case data

    /// The message itself, after the server asked for it.
    case content

    package static func < (left: SMTPStep, right: SMTPStep) -> Bool { left.rawValue < right.rawValue }
}

/// Why a delivery has no answer, or none that could be gone on with.
package enum SMTPFailure: String, Sendable, Hashable, CaseIterable {
    case timeout

    /// The message's own time was over before its end was sent.
    case tooLate = "too_late"

    /// Every connection had another message.
    case busy
    case cancelled
    case nameNotResolved = "name_not_resolved"
    case connectionRefused = "connection_refused"
    case connectionFailed = "connection_failed"
    case connectionClosed = "connection_closed"
    case tlsFailed = "tls_failed"

    /// TLS is asked for and the server does not offer it.
    case startTLSUnavailable = "starttls_unavailable"

    /// The file of authorities cannot be read.
    case authorities = "ca_file"

    /// The login was refused, or the server offers no way to log in that is known here.
    case loginDenied = "authentication_refused"
    case malformedAnswer = "malformed_answer"
    case invalidAddress = "invalid_address"
    case other = "transport_error"
}
