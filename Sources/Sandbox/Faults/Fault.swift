// SPDX-License-Identifier: Apache-2.0

/// A way in which the gateway fails.
package enum Fault: Sendable, Hashable {
    /// The time at which a connection is cut.
    package enum Cut: String, Sendable, Hashable, Codable {
        /// Before the message is accepted.
        case before
        /// After the message is accepted and recorded; the client gets no answer.
        case after
    }

    /// A fault of the receipts.
    package enum Receipt: Sendable, Hashable {
        /// `delivered` comes this long after acceptance.
        case late(Duration)
        /// The message arrives, but no receipt is sent.
        case lost
        /// `delivered` comes again this long after the first.
        case doubled(Duration)
        /// The message does not arrive; the receipt has this error code.
        case undelivered(code: Int)
    }

    /// The message is accepted at once and answered later.
    case delay(Duration)
    /// The message is rejected with an HTTP error, and with a `Retry-After` in seconds if given.
    case status(Int, code: Int?, retryAfter: Int?)
    /// The connection is closed without an answer.
    case cut(Cut)
    /// The message is accepted but never answered, with the connection open.
    case silence
    /// The message is accepted; the answer's head comes at once, its body one byte in each interval.
    case drip(Duration)
    /// The message is accepted; the answer's body never ends.
    case endless
    case receipt(Receipt)
    /// The message is rejected with an error code of the provider.
    case error(code: Int)
    /// A push is rejected with this reason of Apple's; other providers answer with a general error.
    case reason(String)
    /// Messages above this number a second are rejected with the provider's rate-limit error.
    ///
    /// Messages below it get the next matching fault.
    case rate(perSecond: Int)

    /// The outcome's name in the record file.
    var name: String {
        switch self {
        case .delay: "delay"
        case .status(let status, _, _): "status_\(status)"
        case .cut(let cut): "cut_\(cut.rawValue)"
        case .silence: "silence"
        case .drip: "drip"
        case .endless: "endless"
        case .receipt(.late): "receipt_late"
        case .receipt(.lost): "receipt_lost"
        case .receipt(.doubled): "receipt_doubled"
        case .receipt(.undelivered): "receipt_undelivered"
        case .error(let code): "error_\(code)"
        case .reason(let reason): "reason_\(reason)"
        case .rate: "throttled"
        }
    }

    /// The value of `Retry-After`, in seconds.
    var retryAfter: Int? {
        switch self {
        case .status(_, _, let seconds): seconds
        case .rate: 1
        default: nil
        }
    }

    /// True for a fault that only makes sense without a limit of times.
    var isStanding: Bool {
        if case .rate = self { true } else { false }
    }

    /// The fault of the message's receipts, if it is one.
    var receiptFault: Receipt? {
        if case .receipt(let fault) = self { fault } else { nil }
    }
}

/// A scripted fault with the messages that it applies to.
package struct FaultRule: Sendable, Hashable {
    package let identifier: Int
    /// The phone number, address or device token; `nil` for any.
    package let recipient: String?
    /// The provider; `nil` for any.
    package let provider: SandboxProvider?
    /// The number of times left; -1 for no limit.
    package internal(set) var times: Int
    /// The time for which it is in force after it was added; `nil` for no limit.
    package let lasting: Duration?
    package let fault: Fault

    /// True when it applies to a message to this recipient by this provider.
    func fits(_ recipient: String, _ provider: SandboxProvider) -> Bool {
        (self.recipient == nil || self.recipient == recipient) && (self.provider == nil || self.provider == provider)
    }
}
