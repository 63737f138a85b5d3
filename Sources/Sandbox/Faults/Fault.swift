// SPDX-License-Identifier: Apache-2.0

/// One way in which the gateway fails.
package enum Fault: Sendable, Hashable {
    /// When a connection is cut.
    package enum Cut: String, Sendable, Hashable, Codable {
        /// The message is not taken.
        case before
        /// The message is taken and recorded; the client gets no answer.
        case after
    }

    /// What goes wrong with what the provider says later.
    package enum Receipt: Sendable, Hashable {
        /// `delivered` comes this long after acceptance.
        case late(Duration)
        /// The message arrives, and nobody is told.
        case lost
        /// `delivered` comes again this long after the first.
        case doubled(Duration)
        /// The message does not arrive, for the reason with this error code.
        case undelivered(code: Int)
    }

    /// The message is taken at once and answered later.
    case delay(Duration)
    /// The message is not taken; the answer is an HTTP error, with a `Retry-After` in seconds if given.
    case status(Int, code: Int?, retryAfter: Int?)
    /// The connection is closed without an answer.
    case cut(Cut)
    /// The message is taken and never answered, with the connection open.
    case silence
    /// The message is taken; the answer's head comes at once, its body one byte in each interval.
    case drip(Duration)
    /// The message is taken; the answer's body never ends.
    case endless
    case receipt(Receipt)
    /// The message is refused with an error code of the provider.
    case error(code: Int)
    /// A push is refused with this reason of Apple's; other providers answer a general error.
    case reason(String)
    /// Messages above this many in a second are refused as the provider refuses when it is sent too many; those below
    /// get the next fault that fits.
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

    /// Seconds that the answer tells the client to wait.
    var retryAfter: Int? {
        switch self {
        case .status(_, _, let seconds): seconds
        case .rate: 1
        default: nil
        }
    }

    /// Whether it makes sense only for ever.
    var isStanding: Bool {
        if case .rate = self { true } else { false }
    }

    /// What goes wrong with the message's receipts.
    var receiptFault: Receipt? {
        if case .receipt(let fault) = self { fault } else { nil }
    }
}

/// A fault that waits for its messages.
package struct FaultRule: Sendable, Hashable {
    package let identifier: Int
    /// The phone number, address or device token it waits for; `nil` is any.
    package let recipient: String?
    /// The provider it happens to; `nil` is any.
    package let provider: SandboxProvider?
    /// How often it still happens; -1 is for ever.
    package internal(set) var times: Int
    /// The time for which it is in force from when it was added; `nil` is for ever.
    package let lasting: Duration?
    package let fault: Fault

    /// Whether it waits for such a message.
    func fits(_ recipient: String, _ provider: SandboxProvider) -> Bool {
        (self.recipient == nil || self.recipient == recipient) && (self.provider == nil || self.provider == provider)
    }
}
