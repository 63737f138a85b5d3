// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import TestSupport
import TestTools
import Testing
import Verification

@testable import Logs

@Suite struct `What a line is made of` {
    /// Texts that would start a line, end an object, move a terminal's cursor or reverse the direction.
    private static let pieces = [
        "\n", "\r\n", "\u{0}", "\u{1b}[2J", "\u{9b}31m", "\u{7f}", "\u{2028}", "\u{2029}", "\u{202e}", "\u{200b}", "\\",
        "\"", "}{", "=", " ", "é", "👩‍👧", "\u{fffe}", "{\"event\":\"worker.started\"}", "a",
    ]

    @Test(arguments: LogFormat.allCases)
    func `whatever a value holds, a line is one line that can be read`(format: LogFormat) throws {
        var random = TestSeed("hostile texts in \(format)")
        let seed = "COURIER_TEST_SEED=\(random.seed)"
        for _ in 0..<3000 {
            let text = (0..<random.below(30))
                .map { _ in Self.pieces[random.below(Self.pieces.count)] }.joined()
            let pipe = try Pipe()
            pipe.output(format).logger(level: .trace).log(.policyRefused, [.fault: .text(text), .policyVersion: "1"])
            let bytes = pipe.read()
            #expect(bytes.count { $0 == UInt8(ascii: "\n") } == 1, "\(seed)")
            #expect(bytes.last == UInt8(ascii: "\n"), "\(seed)")
            let line = String(decoding: bytes.dropLast(), as: UTF8.self)
            let acting = line.unicodeScalars.filter {
                [.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
            #expect(acting.isEmpty, "\(seed) \(text.debugDescription)")
            guard format != .text else { continue }
            guard case .object = try JSONScanner.parse(Array(line.utf8)) else {
                Issue.record("\(seed): no object: \(line)")
                return
            }
        }
    }

    private struct Talkative: Error, CustomStringConvertible {
        let description = "cannot reach postgresql://worker:canary@db/courier with ('+16505550123')"
    }

    private enum Coded: LoggableError { case timedOut }

    @Test(arguments: LogFormat.allCases)
    func `an error that nobody vouches for is named and not described`(format: LogFormat) throws {
        let pipe = try Pipe()
        let logger = pipe.output(format).logger(level: .trace)
        for error: any Error in [Talkative(), Coded.timedOut] {
            logger.log(.workerFailed, [.error: LogValue(error)])
        }
        let lines = pipe.lines
        #expect(lines.count == 2)
        #expect(lines.first?.contains("Talkative") == true && lines.last?.contains("timedOut") == true)
        for line in lines {
            #expect(!line.contains("canary"))
            #expect(!line.contains("5550123"))
        }
    }

    @Test(arguments: LogFormat.allCases)
    func `a line shows nothing that its types hide`(format: LogFormat) throws {
        let pipe = try Pipe()
        let logger = pipe.output(format).logger(level: .trace)
        let number = try #require(PhoneNumber("+16505550123"))
        let address = try #require(EmailAddress("canary@example.com"))
        for recipient in [Recipient.phone(number), .email(address)] {
            logger.log(.providerLogged, [.recipient: LogValue(recipient.masked)])
            logger.log(.workerFailed, [.error: "\("\(recipient)")"])
        }
        logger.log(.workerFailed, [.error: "\("\(number)")"])
        // A library may log any text in its fields.
        logger.critical("connection failed", metadata: ["to": "+16505550123", "event": "canary@example.com"])
        let lines = pipe.lines
        #expect(lines.count == 6)
        for line in lines {
            #expect(!line.contains("6505550123"))
            #expect(!line.contains("canary@"))
        }
    }

    @Test(arguments: LogFormat.allCases)
    func `every line names its worker`(format: LogFormat) throws {
        let pipe = try Pipe()
        let logger = pipe.output(format).logger(level: .trace)
        logger.log(.policyRefused, [.fault: "a fault"])
        logger.log(.workerStopped)
        logger.warning("a library's words")
        let lines = pipe.lines
        #expect(lines.count == 3)
        for line in lines { #expect(line.contains(/worker\.id\W+(\w+\W+)*?host-1/), "\(line)") }
    }

    @Test func `a library's message is its own event`() throws {
        let pipe = try Pipe()
        pipe.output(.json).logger(level: .trace).warning("oh\nno", metadata: ["a": "b"])
        let line = try #require(pipe.lines.first)
        #expect(
            line.hasSuffix(#""severity":"warning","event":"library.message","message":"oh\nno","worker.id":"host-1"}"#)
        )
    }

    @Test func `no field is made for a severity that is off`() throws {
        let pipe = try Pipe()
        var made = 0
        func field() -> LogValue {
            made += 1
            return "main"
        }
        let logger = pipe.output(.json).logger(level: .warning)
        logger.log(.providerAnswered, [.provider: field()])
        #expect(made == 0)
        logger.log(.providerPaused, [.provider: field()])
        #expect(made == 1)
        #expect(pipe.lines.count == 1)
    }
}
