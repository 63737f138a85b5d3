// SPDX-License-Identifier: Apache-2.0

/// The last step and the outcome of one delivery.
package struct SMTPResult: Sendable, Hashable {
    /// The last step of the session that began.
    package let step: SMTPStep

    /// The server's last complete reply to that step; nil when none came.
    package let reply: Int?

    /// The enhanced code of that reply, where the server sends one.
    package let enhanced: EnhancedStatus?

    /// True when the message's end may have been sent: until then no server has accepted the message.
    package let isComplete: Bool

    /// A failure other than the reply.
    package let failure: SMTPFailure?

    package init(
        step: SMTPStep,
        reply: Int?,
        enhanced: EnhancedStatus? = nil,
        isComplete: Bool = false,
        failure: SMTPFailure? = nil
    ) {
        self.step = step
        self.reply = reply
        self.enhanced = enhanced
        self.isComplete = isComplete
        self.failure = failure
    }
}

/// The server's reason in numbers, such as 5.1.1 (RFC 3463).
package struct EnhancedStatus: Sendable, Hashable {
    /// The class, 2, 4 or 5: equal to the first digit of the reply.
    package let kind: Int

    /// The subject: 1 address, 2 mailbox, 3 mail system, 4 network, 5 protocol, 6 content, 7 policy.
    package let subject: Int
    package let detail: Int

    package init(kind: Int, subject: Int, detail: Int) {
        self.kind = kind
        self.subject = subject
        self.detail = detail
    }

    /// Parses the code at the beginning of a text, also as `#5.1.0` or `5.1.1:`; nil where there is none.
    init?(_ text: some Collection<UInt8>) {
        let blank = UInt8(ascii: " ")
        let marks = Array("#():,;".utf8)
        let word = text.drop { $0 == blank }.prefix { $0 > blank }.filter { !marks.contains($0) }
        guard word.count <= 9 else { return nil }
        let numbers = String(decoding: word, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 3, numbers.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let kind = Int(numbers[0]), [2, 4, 5].contains(kind), let subject = Int(numbers[1]),
            let detail = Int(numbers[2])
        else { return nil }
        self.init(kind: kind, subject: subject, detail: detail)
    }
}

/// The steps of a session, in order.
package enum SMTPStep: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// From the connection to the server's greeting.
    case greeting
    case hello
    case startTLS
    case authentication
    case sender
    case recipient
    case data

    /// The message itself, after the server has requested it.
    case content

    package static func < (left: SMTPStep, right: SMTPStep) -> Bool { left.rawValue < right.rawValue }
}

/// The reason why a delivery has no reply, or a reply after which it cannot continue.
package enum SMTPFailure: String, Sendable, Hashable, CaseIterable {
    case timeout

    /// The message's `leaveBy` passed before its end was sent.
    case tooLate = "too_late"

    /// Every connection was in use.
    case busy
    case cancelled
    case nameNotResolved = "name_not_resolved"
    case connectionRefused = "connection_refused"
    case connectionFailed = "connection_failed"
    case connectionClosed = "connection_closed"
    case tlsFailed = "tls_failed"

    /// STARTTLS is required, but the server does not offer it.
    case startTLSUnavailable = "starttls_unavailable"

    /// An address needs SMTPUTF8, but the server does not offer it.
    case utf8Unavailable = "smtputf8_unavailable"

    /// The file of certificate authorities cannot be read.
    case authorities = "ca_file"

    /// The login was rejected, or the server offers no supported mechanism.
    case loginDenied = "authentication_refused"
    case malformedAnswer = "malformed_answer"
    case invalidAddress = "invalid_address"
    case other = "transport_error"
}
