// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SMTPClient

@Suite struct `A mail session's transcript` {
    private func transcript(_ lines: [String]) -> SMTPTranscript {
        var transcript = SMTPTranscript()
        for line in lines {
            let text = line.dropFirst(2) + "\r\n"
            if line.hasPrefix("> ") { transcript.sent(text.utf8) } else { transcript.received(text.utf8) }
        }
        return transcript
    }

    @Test func `follows a session to its end`() {
        let lines = [
            "< 220 hello", "> EHLO us", "< 250-here", "< 250 STARTTLS", "> STARTTLS", "< 220 go", "> EHLO us",
            "< 250 AUTH PLAIN", "> AUTH PLAIN x", "< 235 yes", "> MAIL FROM:<a@b>", "< 250 yes", "> RCPT TO:<c@d>",
            "< 250 yes", "> DATA", "< 354 go on", "< 250 taken", "> QUIT", "< 221 bye",
        ]
        let steps: [SMTPStep] = [.greeting, .hello, .hello, .hello, .startTLS, .startTLS, .startTLS]
        for (count, step) in zip(1..., steps) { #expect(transcript(Array(lines.prefix(count))).step == step) }
        for count in 1...16 { #expect(!transcript(Array(lines.prefix(count))).isSettled) }
        let end = transcript(Array(lines.prefix(17)))
        #expect(end.isSettled)
        #expect(end.step == .content)
        #expect(end.reply == 250)
        #expect(transcript(lines).reply == 250)
    }

    @Test(arguments: ["QUIT", "DATA", "MAIL", "RCPT"])
    func `takes no line of a login for a command that has an argument or comes later`(line: String) {
        let login = transcript(["< 220 hi", "> EHLO us", "< 250 AUTH LOGIN", "> AUTH LOGIN", "< 334 x", "> \(line)x="])
        #expect(login.step == .authentication)
        #expect(!login.hasQuit)
    }

    @Test(arguments: ["", "2", "25", "abc", "2x0 yes", "-50 no"])
    func `takes no nonsense for an answer`(line: String) {
        #expect(transcript(["< \(line)"]).reply == nil)
    }

    @Test func `waits for the last line of an answer`() {
        let start = ["> DATA", "< 354 go on"]
        #expect(transcript(start + ["< 250-first"]).reply == nil)
        #expect(transcript(start + ["< 250-first", "< 250 last"]).reply == 250)
        #expect(transcript(start + ["< 250"]).reply == 250)
    }
}
