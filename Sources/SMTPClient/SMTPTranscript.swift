// SPDX-License-Identifier: Apache-2.0

/// The state of a session, derived from the lines that libcurl reports.
///
/// It stores steps and numbers only: lines contain addresses, passwords and texts.
struct SMTPTranscript {
    private(set) var step = SMTPStep.greeting
    private(set) var reply: Int?
    private(set) var enhanced: EnhancedStatus?
    private(set) var hasQuit = false

    /// The enhanced code of an incomplete reply.
    private var earlierCode: EnhancedStatus?

    /// True when the MAIL command had SMTPUTF8, which libcurl adds where an address needs it and the server offers it.
    private(set) var usesUTF8 = false

    /// Records a command that was sent.
    ///
    /// Steps only advance, so that a line of a login does not count as a command.
    mutating func sent(_ line: some Collection<UInt8>) {
        if line.starts(with: "QUIT\r\n".utf8) {
            hasQuit = true
            return
        }
        let command = Self.commands.first { line.starts(with: $0.verb.utf8) }
        guard let next = command?.step, next >= step, !hasQuit else { return }
        step = next
        if step == .sender { usesUTF8 = String(decoding: line, as: UTF8.self).hasSuffix(" SMTPUTF8\r\n") }
        (reply, enhanced) = (nil, nil)
    }

    /// Records a received line; all but the last line of a reply have a hyphen after the number.
    mutating func received(_ line: some Collection<UInt8>) {
        guard !hasQuit, let number = Self.number(line.prefix(3)) else { return }
        // Not every server repeats the code in each line.
        let code = EnhancedStatus(line.dropFirst(4)) ?? earlierCode
        earlierCode = code
        guard line.dropFirst(3).first != UInt8(ascii: "-") else { return }
        earlierCode = nil
        if step == .data, number == 354 {
            step = .content
            (reply, enhanced) = (nil, nil)
        } else {
            reply = number
            enhanced = code
        }
    }

    /// True when nothing can change the outcome any more: only the end of the session is left.
    var isSettled: Bool {
        guard let reply else { return false }
        return step == .content || (hasQuit && reply >= 400)
    }

    private static let commands: [(verb: String, step: SMTPStep)] = [
        ("EHLO ", .hello), ("HELO ", .hello), ("STARTTLS\r\n", .startTLS), ("AUTH ", .authentication),
        ("MAIL FROM:", .sender), ("RCPT TO:", .recipient), ("DATA\r\n", .data),
    ]

    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        guard digits.count == 3 else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }
}
