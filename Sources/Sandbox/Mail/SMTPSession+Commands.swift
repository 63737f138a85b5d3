// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

extension SMTPSession {
    /// Answers a line that is not part of a mail.
    mutating func answer(_ line: String) -> Event {
        switch mode {
        case .authPlain: return .reply(finishPlain(line))
        case .authUser: return .reply(askPassword(line))
        case .authPassword(let user): return .reply(finishLogin(user: user, line))
        case .command, .data: break
        }
        let parts = line.split(separator: " ", maxSplits: 1)
        let argument = parts.count > 1 ? String(parts[1]) : ""
        switch parts.first?.uppercased() {
        case "EHLO": return .reply(hello(argument, isExtended: true))
        case "HELO": return .reply(hello(argument, isExtended: false))
        case "MAIL": return .reply(mail(argument))
        case "RCPT": return recipient(argument)
        case "DATA": return .reply(data())
        case "AUTH": return .reply(authenticate(argument))
        case "RSET":
            envelope = nil
            return .reply(Reply(250, "OK"))
        case "NOOP": return .reply(Reply(250, "OK"))
        case "VRFY": return .reply(Reply(252, "Send some mail and see"))
        case "QUIT": return .end(Reply(221, "Bye"))
        default: return .reply(Reply(500, "Command not recognised"))
        }
    }

    private mutating func hello(_ name: String, isExtended: Bool) -> Reply {
        guard !name.isEmpty else { return Reply(501, "Name needed") }
        isGreeted = true
        envelope = nil
        guard isExtended else { return Reply(250, "sandbox.localhost") }
        let auth = credentials == nil ? [] : ["AUTH PLAIN LOGIN"]
        let extensions = ["PIPELINING", "SIZE \(limits.message)", "8BITMIME", "SMTPUTF8"]
        return Reply(250, lines: ["sandbox.localhost"] + extensions + auth)
    }

    private mutating func mail(_ argument: String) -> Reply {
        guard isGreeted else { return Reply(503, "EHLO first") }
        if credentials != nil, !isAuthenticated { return Reply(530, "Authentication required") }
        if envelope != nil { return Reply(503, "Sender given already") }
        guard let (sender, parameters) = Self.path(argument, behind: "FROM:"), sender.isEmpty || Self.isAddress(sender)
        else { return Reply(501, "Syntax: MAIL FROM:<address>") }
        for parameter in parameters.split(separator: " ") where parameter.uppercased().hasPrefix("SIZE=") {
            if Int(parameter.dropFirst(5)) ?? 0 > limits.message { return Reply(552, "Message too big") }
        }
        envelope = Envelope(sender: sender)
        return Reply(250, "OK")
    }

    private mutating func recipient(_ argument: String) -> Event {
        guard let envelope else { return .reply(Reply(503, "MAIL first")) }
        guard let (address, _) = Self.path(argument, behind: "TO:"), Self.isAddress(address) else {
            return .reply(Reply(501, "Syntax: RCPT TO:<address>"))
        }
        if envelope.recipients.count >= limits.recipients { return .reply(Reply(452, "Too many recipients")) }
        return .recipient(address)
    }

    private mutating func data() -> Reply {
        guard let envelope, !envelope.recipients.isEmpty else { return Reply(503, "RCPT first") }
        mode = .data
        return Reply(354, "End data with <CR><LF>.<CR><LF>")
    }

    /// The address in angle brackets after a word, and the rest of the line.
    private static func path(_ argument: String, behind word: String) -> (address: String, parameters: Substring)? {
        guard argument.uppercased().hasPrefix(word) else { return nil }
        let rest = argument.dropFirst(word.count).drop { $0 == " " }
        guard rest.first == "<", let end = rest.firstIndex(of: ">") else { return nil }
        return (String(rest[..<end].dropFirst()), rest[rest.index(after: end)...])
    }

    /// True for text around an at sign, of at most 254 bytes (RFC 5321 4.5.3.1.3), without control characters or
    /// spaces.
    private static func isAddress(_ text: String) -> Bool {
        guard text.utf8.count <= 254, let at = text.lastIndex(of: "@") else { return false }
        return at > text.startIndex && text.index(after: at) < text.endIndex
            && text.unicodeScalars.allSatisfy { $0.value > 32 && $0.value != 127 }
    }
}

// MARK: Authentication

extension SMTPSession {
    private mutating func authenticate(_ argument: String) -> Reply {
        guard credentials != nil else { return Reply(502, "Authentication not offered") }
        guard isGreeted, !isAuthenticated, envelope == nil else { return Reply(503, "Not now") }
        let parts = argument.split(separator: " ", maxSplits: 1)
        let initial = parts.count > 1 ? String(parts[1]) : nil
        switch parts.first?.uppercased() {
        case "PLAIN":
            if let initial { return finishPlain(initial) }
            mode = .authPlain
            return Reply(334, "")
        case "LOGIN":
            if let initial { return askPassword(initial) }
            mode = .authUser
            return Reply(334, "VXNlcm5hbWU6")
        default:
            return Reply(504, "Mechanism not offered")
        }
    }

    /// Completes AUTH PLAIN (RFC 4616): an optional identity, the user and the password, separated by zero bytes.
    private mutating func finishPlain(_ line: String) -> Reply {
        mode = .command
        guard let text = Self.decoded(line) else { return Reply(501, "Not Base64, or given up") }
        let parts = text.split(separator: "\0", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return Reply(501, "Not the form of PLAIN") }
        return finish(user: String(parts[1]), password: String(parts[2]))
    }

    private mutating func askPassword(_ line: String) -> Reply {
        guard let user = Self.decoded(line) else {
            mode = .command
            return Reply(501, "Not Base64, or given up")
        }
        mode = .authPassword(user: user)
        return Reply(334, "UGFzc3dvcmQ6")
    }

    private mutating func finishLogin(user: String, _ line: String) -> Reply {
        mode = .command
        guard let password = Self.decoded(line) else { return Reply(501, "Not Base64, or given up") }
        return finish(user: user, password: password)
    }

    private mutating func finish(user: String, password: String) -> Reply {
        guard credentials == SMTPCredentials(user: user, password: password) else {
            return Reply(535, "Authentication failed")
        }
        isAuthenticated = true
        return Reply(235, "Authentication succeeded")
    }

    private static func decoded(_ line: String) -> String? {
        if line == "=" { return "" }
        return Data(base64Encoded: line).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The login that a mail client must use.
package struct SMTPCredentials: Sendable, Hashable, CustomStringConvertible {
    package let user: String
    package let password: String

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    package var description: String { "SMTPCredentials(user: \(user))" }
}
