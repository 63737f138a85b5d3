// SPDX-License-Identifier: Apache-2.0

import Providers
import TestSupport
import TestTools
import Testing
import Verification

@Suite struct `The answers of every module` {
    /// Bodies without any known member, in the formats of all modules.
    private static let shapes = [
        "", " ", "{", "[", "[]", "{}", "null", "true", "0", "\"\"", "<html><body>Bad Gateway</body></html>",
        #"{"sid": 5, "message_uuid": [], "messages": {}, "data": {"id": {}}, "code": "x", "type": 1, "error": []}"#,
        #"{"sid": "", "message_uuid": "", "messages": [], "data": {"id": ""}, "error": {"code": ""}}"#,
        #"{"sid": "a b", "message_uuid": "a b", "messages": [{"status": ""}], "data": {"id": "a b"}}"#,
        "<PublishResponse><PublishResult><MessageId></PublishResult></PublishResponse>",
        "<ErrorResponse><Error><Code></Code></Error></ErrorResponse>", "<", "<>", "</",
        "\u{0}\u{1}\u{7f}",
    ]

    /// Bodies that overflow the stack or take too long in a careless parser.
    private static let costly = [
        String(repeating: "[", count: 60_000), String(repeating: #"{"a":"#, count: 10_000),
        String(repeating: "<PublishResponse>", count: 3500), String(repeating: "<PublishResponse", count: 4000),
    ]

    private static let statuses: [(ProviderOutcome, [Int])] = [
        (.accepted, [200, 201, 202, 206, 299]),
        (.unknown, [302, 303, 408, 500, 501, 502, 503, 504, 599]),
        (.misconfigured, [300, 301, 307, 308, 401, 402, 403, 404, 405, 407]),
        (.refused, [400, 409, 410, 413, 415, 418, 422, 451, 499]),
        (.throttled, [429]),
    ]

    /// Every status with some bodies, and every body with some statuses.
    private static func cases(_ module: ModuleSample) -> [(ProviderOutcome, Int, String)] {
        let statuses = statuses.flatMap { outcome, statuses in statuses.map { (outcome, $0) } }
        let bodies = bodies(module)
        let some = statuses.filter { [200, 202, 307, 400, 403, 429, 503].contains($0.1) }
        return statuses.flatMap { outcome, status in ["", "<html>", "{}"].map { (outcome, status, $0) } }
            + some.flatMap { outcome, status in bodies.map { (outcome, status, $0) } }
            + costly.flatMap { [(.accepted, 200, $0), (.refused, 400, $0), (.unknown, 500, $0)] }
    }

    /// A success's body, truncated in the middle, and complete with a wrong type or an empty value for the id.
    private static func bodies(_ module: ModuleSample) -> [String] {
        let id = module.accepted.messageID ?? ""
        return shapes + [
            String(module.success.prefix(module.success.count / 2)), module.success.replacing(id, with: ""),
            module.success.replacing(id, with: "+16505550123 \(id)"), "x\(module.success.dropFirst())",
        ]
    }

    @Test(arguments: ModuleSample.all)
    func `without anything known follow the status, each after one request`(module: ModuleSample) async throws {
        let cases = Self.cases(module)
        let script = cases.map { answer("\($0.1) Reason", $0.2) }
        try await ScriptedServer.with(script) { server in
            try await module.with(baseURL: server.url) { provider in
                for (outcome, status, body) in cases {
                    let answer = await provider.send(try message())
                    #expect(answer.outcome == outcome, "\(status) \(body.prefix(200))")
                    #expect(answer.messageID?.contains("6505550123") != true, "\(status) \(body.prefix(200))")
                    #expect(status < 300 || answer.errorCode == "http_\(status)", "\(status) \(body.prefix(200))")
                }
            }
            #expect(server.seen.requests.count == cases.count)
        }
    }

    @Test(arguments: ModuleSample.all)
    func `that take the message do so with a success only`(module: ModuleSample) async throws {
        for status in [200, 201, 202] {
            let (answer, _) = try await module.exchange([answer("\(status) Fine", module.success)])
            #expect(answer == module.accepted)
        }
        for (outcome, statuses) in Self.statuses {
            for status in statuses where status > 299 {
                let (answer, _) = try await module.exchange([answer("\(status) Reason", module.success)])
                #expect(answer.outcome == outcome, "\(status)")
            }
        }
    }

    @Test(arguments: ModuleSample.all)
    func `without a body are read like those with one`(module: ModuleSample) async throws {
        for (status, outcome) in [("204 No Content", ProviderOutcome.accepted), ("304 Not Modified", .misconfigured)] {
            let (answer, _) = try await module.exchange([.answer("HTTP/1.1 \(status)\r\n\r\n")])
            #expect(answer.outcome == outcome)
        }
    }

    /// Bodies with typical faults of gateways, whose id is still readable.
    private static let spoilt: [@Sendable (String) -> [UInt8]] = [
        { [0xEF, 0xBB, 0xBF] + Array($0.utf8) },
        { Array("/* made by v2 */ \($0) // end\r\n\u{0}".utf8) },
        { Array($0.replacing("{\"", with: "{\"note\": \"a\tb\u{1}\", \"").utf8) },
        { Array($0.replacing("{\"", with: "{\"n\": 123456789012345678901234567890, \"").utf8) },
        { Array($0.replacing("{\"", with: "{\"x\": 1e999, \"x\": 2, \"").utf8) },
        { Array($0.replacing("{\"", with: "{\"x\": NaN, \"y\": [-Infinity,], \"").replacing("}", with: ",}").utf8) },
        { [0xFF, 0xFE] + $0.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } },
        { [0xFE, 0xFF] + $0.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } },
        { text in
            let bad = Array("{\"b\": \"".utf8) + [0xFF, 0xC3] + Array("\", ".utf8)
            return text.utf8.flatMap { $0 == UInt8(ascii: "{") ? bad : [$0] }
        },
    ]

    @Test(arguments: ModuleSample.all.filter { $0.success.hasPrefix("{") })
    func `are read however they are spoilt`(module: ModuleSample) async throws {
        for (index, spoil) in Self.spoilt.enumerated() {
            let body = spoil(module.success)
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n"
            let (answer, _) = try await module.exchange([.bytes(Array(head.utf8) + body)])
            #expect(answer == module.accepted, "case \(index)")
        }
    }

    @Test(arguments: ModuleSample.all)
    func `are read when they are compressed, said or unsaid`(module: ModuleSample) async throws {
        let body = gzipped(module.success)
        for headers in ["", "Content-Encoding: gzip\r\n"] {
            let head = "HTTP/1.1 200 OK\r\n\(headers)Content-Length: \(body.count)\r\n\r\n"
            let (answer, _) = try await module.exchange([.bytes(Array(head.utf8) + body)])
            #expect(answer == module.accepted)
        }
        // Deflate data without the zlib header, and an uncompressed body.
        let bare = body.dropFirst(10).dropLast(8)
        for (coding, bytes) in [("deflate", Array(bare)), ("gzip", Array(module.success.utf8))] {
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(bytes.count)\r\n\r\n"
            let (answer, _) = try await module.exchange([.bytes(Array(head.utf8) + bytes)])
            #expect(answer == module.accepted, "\(coding)")
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n"
        let (damaged, _) = try await module.exchange([.bytes(Array(head.utf8) + body.prefix(9))])
        #expect(damaged == ProviderAnswer(.accepted))
    }

    @Test(arguments: [
        "abcd/efgh+ijk==", "https://gateway.example.com/messages/17?a=b", "an id with spaces", "é-Straße-日本",
        String(repeating: "x", count: 256),
    ])
    func `have ids of any text`(id: String) async throws {
        for module in ModuleSample.all {
            let own = try #require(module.accepted.messageID)
            let (answer, _) = try await module.exchange([answer("200 OK", module.success.replacing(own, with: id))])
            #expect(answer.messageID == id)
        }
    }

    @Test(arguments: ModuleSample.all)
    func `carry the time to wait`(module: ModuleSample) async throws {
        let (answer, _) = try await module.exchange([answer("429 Slow Down", "", headers: "Retry-After: 7\r\n")])
        #expect(answer == ProviderAnswer(.throttled, errorCode: "http_429", retryAfter: .seconds(7)))
    }

    @Test(arguments: ModuleSample.all)
    func `may hold any bytes`(module: ModuleSample) async throws {
        var seed = TestSeed("the answers of \(module.testDescription)")
        let statuses = [200, 202, 400, 403, 422, 429, 500]
        var cases: [(Int, String)] = []
        for _ in 0..<150 { cases.append((seed.pick(statuses), seed.mutated(module.success))) }
        try await ScriptedServer.with(cases.map { answer("\($0.0) Reason", $0.1) }) { server in
            try await module.with(baseURL: server.url) { provider in
                for (status, body) in cases {
                    let answer = await provider.send(try message())
                    #expect(answer.outcome != .accepted || status < 300, "COURIER_TEST_SEED=\(seed.seed): \(body)")
                    #expect(answer.outcome != .notSent, "COURIER_TEST_SEED=\(seed.seed): \(body)")
                    let words = [answer.messageID, answer.errorCode].compactMap(\.self)
                    #expect(words.allSatisfy { $0.unicodeScalars.count <= 256 && !$0.contains("\u{0}") })
                }
            }
            #expect(server.seen.requests.count == cases.count)
        }
    }

    @Test(arguments: ModuleSample.all)
    func `to a message of another channel is a configuration fault`(module: ModuleSample) async throws {
        let email = EmailMessage(
            recipient: try #require(EmailAddress("a@example.com")),
            subject: "s",
            text: "t",
            html: "h",
            senderName: "n"
        )
        let message = OutboundMessage(
            sendID: try message().sendID,
            content: .email(email),
            validity: .seconds(1),
            callDeadline: .seconds(1),
            leaveBy: .now + .seconds(60)
        )
        let (answer, seen) = try await module.exchange([.silence], message)
        #expect(answer == ProviderAnswer(.misconfigured, errorCode: "channel"))
        #expect(seen.connections == 0)
    }
}

extension TestSeed {
    /// A text after one to four changes: a piece removed, doubled, or replaced by a token with meaning in some format.
    fileprivate mutating func mutated(_ text: String) -> String {
        let pieces = [
            "", "{", "}", "[", "]", "\"", ",", ":", "<", ">", "</", "/>", "&lt;", "\\u0000", "\u{0}", "é", "null", "-1",
            "1e999", "99999999999999999999999", "<MessageId>", "</Code>", "status", "#", "\r\n\r\n",
        ]
        var scalars = Array(text.unicodeScalars)
        for _ in 0...below(4) {
            let start = below(scalars.count + 1)
            let end = min(scalars.count, start + below(16))
            let piece = chance(20) ? Array(scalars[start..<end]) : Array(pick(pieces).unicodeScalars)
            scalars.replaceSubrange(chance(30) ? start..<start : start..<end, with: piece)
        }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }
}
