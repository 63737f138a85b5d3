// SPDX-License-Identifier: Apache-2.0

/// The server's side of one SMTP session (RFC 5321): bytes in, events out; no clock, no I/O.
///
/// The owner answers each event, if necessary through the session, before it takes the next one.
struct SMTPSession {
    struct Limits {
        /// The maximum bytes of a command line.
        var line = 4096
        /// The maximum bytes of an e-mail; the session ends after twice as many.
        var message = 1_048_576
        var recipients = 100
        /// The number of invalid commands after which the session ends.
        var errors = 20
    }

    struct Reply: Equatable {
        let code: Int
        let lines: [String]

        init(_ code: Int, _ lines: String...) {
            self.code = code
            self.lines = lines
        }

        init(_ code: Int, lines: [String]) {
            self.code = code
            self.lines = lines
        }

        /// The reply on the wire; all lines but the last have a hyphen after the code.
        var text: String {
            let last = lines.count - 1
            return lines.enumerated().map { "\(code)\($0 < last ? "-" : " ")\($1)\r\n" }.joined()
        }
    }

    struct Envelope: Equatable {
        var sender: String
        var recipients: [String] = []
    }

    enum Event: Equatable {
        case reply(Reply)
        /// A valid recipient; the owner answers with `accept` or a rejection.
        case recipient(String)
        /// A complete mail; the owner answers.
        case message(Envelope, [UInt8])
        /// The last reply of the session.
        case end(Reply)
    }

    enum Mode: Equatable {
        case command
        case data
        case authPlain
        case authUser
        case authPassword(user: String)
    }

    let limits: Limits
    let credentials: SMTPCredentials?
    var mode = Mode.command
    var envelope: Envelope?
    var isGreeted = false
    var isAuthenticated = false
    private var errors = 0
    private var input = SMTPLines()
    private var body: [UInt8] = []
    private var bodySize = 0

    init(limits: Limits = Limits(), credentials: SMTPCredentials? = nil) {
        self.limits = limits
        self.credentials = credentials
    }

    static let greeting = Reply(220, "sandbox.localhost ESMTP code-courier sandbox")

    mutating func receive(_ bytes: some Sequence<UInt8>) {
        input.append(bytes)
    }

    /// The next event in the bytes so far; `nil` when more bytes are needed.
    mutating func next() -> Event? {
        while mode == .data {
            guard let line = input.next(endedBy: .strict) else {
                return input.count > 2 * limits.message ? .end(Reply(552, "Message too big")) : nil
            }
            if let event = take(dataLine: line) { return event }
        }
        guard let line = input.next(endedBy: .lenient) else {
            return input.count > limits.line ? .end(Reply(500, "Line too long")) : nil
        }
        if line.count > limits.line { return .end(Reply(500, "Line too long")) }
        return counted(answer(String(decoding: line, as: UTF8.self)))
    }

    /// Adds the recipient of the last event.
    mutating func accept(_ recipient: String) -> Reply {
        envelope?.recipients.append(recipient)
        return Reply(250, "OK")
    }

    /// Counts errors, and ends the session after too many.
    private mutating func counted(_ event: Event) -> Event {
        guard case .reply(let reply) = event, reply.code >= 500 else { return event }
        errors += 1
        return errors >= limits.errors ? .end(Reply(421, "Too many errors")) : event
    }

    /// Adds a line of a mail: a lone dot ends the mail, and any other leading dot is removed (RFC 5321 4.5.2).
    private mutating func take(dataLine line: ArraySlice<UInt8>) -> Event? {
        let dot = UInt8(ascii: ".")
        if line.elementsEqual([dot]) { return endOfData() }
        let content = line.first == dot ? line.dropFirst() : line
        bodySize += content.count + 2
        if bodySize <= limits.message {
            body += content
            body += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        }
        return bodySize > 2 * limits.message ? .end(Reply(552, "Message too big")) : nil
    }

    private mutating func endOfData() -> Event {
        defer { (mode, envelope, body, bodySize) = (.command, nil, [], 0) }
        guard bodySize <= limits.message, let envelope else { return .reply(Reply(552, "Message too big")) }
        return .message(envelope, body)
    }
}

/// Splits incoming bytes into lines.
struct SMTPLines {
    enum End {
        /// LF, with or without CR.
        case lenient
        /// CR LF only: otherwise a mail could contain a sequence that ends it for one server but not for another.
        case strict
    }

    private var bytes: [UInt8] = []
    private var start = 0
    /// The index at which the search for the line end continues.
    private var searched = 0

    /// The number of buffered bytes.
    var count: Int { bytes.count - start }

    mutating func append(_ more: some Sequence<UInt8>) {
        if start > 65_536 {
            bytes.removeFirst(start)
            (start, searched) = (0, searched - start)
        }
        bytes.append(contentsOf: more)
    }

    /// The next complete line without its end.
    mutating func next(endedBy end: End) -> ArraySlice<UInt8>? {
        while let feed = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            searched = feed + 1
            let hasReturn = feed > start && bytes[feed - 1] == UInt8(ascii: "\r")
            if end == .strict, !hasReturn { continue }
            let line = bytes[start..<(hasReturn ? feed - 1 : feed)]
            start = searched
            return line
        }
        searched = bytes.count
        return nil
    }
}
