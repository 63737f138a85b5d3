// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import NIOHTTP1
import TestTools
import Testing
import Verification

@testable import Providers

/// Tests the forms of an answer that HTTP/1.1 allows beside a fixed length on a persistent connection.
@Suite(.serialized, .timeLimit(.minutes(1))) struct `An HTTP answer` {
    private static let body = #"{"sid": "SM1", "num_segments": "2"}"#
    private static let accepted = ProviderAnswer(.accepted, messageID: "SM1", segments: 2)
    private static let whole = "HTTP/1.1 201 Created\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"

    private static let length = "Content-Length: \(body.utf8.count)\r\n"

    private static func chunked(_ parts: [String]) -> String {
        let chunks = parts.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined()
        return "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n"
    }

    @Test(arguments: [EMFILE, ENFILE])
    func `that cannot be asked for, since no file descriptor is left, counts against no provider`(code: Int32) {
        let failure = TransportFailure(IOError(errnoCode: code, reason: "socket"))
        let answer = ExchangeResult.notSent(failure).providerAnswer(to: nil) { _ in ProviderAnswer(.accepted) }
        #expect(answer == .withoutFiles)
        #expect(answer.outcome == .notSent && answer.untried != nil && answer.errorCode == "too_many_open_files")
    }

    private static let forms: [ServerStep] = [
        .answer(chunked([body])),
        .answer(chunked([String(body.prefix(9)), String(body.dropFirst(9))])),
        .answer("HTTP/1.1 100 Continue\r\n\r\n\(whole)"),
        .answer("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n\(whole)"),
        .answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n\(whole)"),
        .answerAndFinish("HTTP/1.0 201 Created\r\n\r\n\(body)"),
        .answer("HTTP/1.1 201\nContent-Length: \(body.utf8.count)\n\n\(body)"),
        .answer("\r\n\nHTTP/1.1 201 Created\nContent-Length:\(body.utf8.count)\r\n\n\(body)"),
        .answer("HTTP/1.1 201 Created\r\nX-Note: one\r\n two\r\n\tContent-Length: 1\r\n\(length)\r\n\(body)"),
        .answer("HTTP/1.1 201 Created\r\n\(length)\(length)\r\n\(body)"),
        .answer("HTTP/1.1 201 Created\r\nContent-Length: \(body.utf8.count), \(body.utf8.count)\r\n\r\n\(body)"),
        .answer("HTTP/1.1 201 Created\r\nno field\r\n: none\r\nContent-Length : \(body.utf8.count)\r\n\r\n\(body)"),
        .answer(chunked([body]).replacing("\r\n", with: "\n")),
        .answer(chunked([body]).replacing("0\r\n\r\n", with: "0;last\r\nX-Sum: 1\r\n\r\n")),
        .answerAndFinish("HTTP/1.1 201 Created\r\nConnection: close\r\n\r\n\(body)"),
        .answer("HTTP/1.1\t201\r\n\(length)\r\n\(body)"),
        .answer("http/1.1  201Created\r\n\(length)\r\n\(body)"),
        .answer("HTTP/2 201 Created\r\n\(length)\r\n\(body)"),
        .answer("HTTP/1.1 201 Created\r\nTransfer-Encoding: identity\r\n\(length)\r\n\(body)"),
        .answer("HTTP/1.1 201 Created\r\n\(length)Transfer-Encoding: x, Chunked\r\n\r\n\(size);a=b\n\(body)\n00\n\n"),
        .answerAndFinish("\(inChunks)\(size)\r\n\(body)\r\n0\r\n"),
        .answerAndFinish("\(inChunks)\(size)\r\n\(body)\r\n0\r\nX-Sum: 1"),
        // The stated lengths are wrong, but the document is complete.
        .answerAndFinish("HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n\(body)"),
        .answerAndFinish("\(inChunks)\(size)\r\n\(body)\r\n"),
        .answerAndFinish("\(inChunks)fff\r\n\(body)"),
    ]

    private static let inChunks = "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
    private static let size = String(body.utf8.count, radix: 16)

    @Test(arguments: forms) func `is read in every form`(step: ServerStep) async throws {
        let (answer, seen) = try await ModuleSample.twilio.exchange([step], message(within: .seconds(30)))
        #expect(answer == Self.accepted)
        #expect(seen.requests.count == 1)
    }

    @Test(arguments: [
        "HTTP/1.1 201 Created\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
        "HTTP/1.1 201 Created\r\nContent-Length: five\r\n\r\n{}",
        "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ])
    func `that is a success and cannot be read has taken the message`(text: String) async throws {
        let (answer, seen) = try await ModuleSample.twilio.exchange([.answer(text)], message(within: .seconds(30)))
        #expect(answer == ProviderAnswer(.accepted))
        #expect(seen.requests.count == 1)
    }

    @Test func `without an end is read at the deadline, when its document is whole`() async throws {
        let step = ServerStep.answer("HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n\r\n\(Self.body)")
        #expect(try await ModuleSample.twilio.exchange([step], message(within: .seconds(8))).answer == Self.accepted)
    }

    @Test(arguments: [
        "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{} and more",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}\r\n<html>",
    ])
    func `that is longer than it says spoils no other one`(text: String) async throws {
        try await ScriptedServer.with([.answer(text), .answer(Self.whole)]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url) { provider in
                let message = try message()
                #expect(await provider.send(message) == ProviderAnswer(.accepted))
                #expect(await provider.send(message) == Self.accepted)
            }
            #expect(server.seen.connections == 2)
        }
    }

    @Test(arguments: ["\r\n", "\n", ""])
    func `may have empty lines behind it`(lines: String) async throws {
        try await ScriptedServer.with([.answer(Self.whole + lines)]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url) { provider in
                let message = try message()
                for _ in 0..<3 { #expect(await provider.send(message) == Self.accepted) }
            }
            #expect(server.seen.connections == 1)
        }
    }

    @Test func `that ends within its head is read by its status`() async throws {
        let step = ServerStep.answerAndFinish("HTTP/1.1 201 Created\r\nContent-Le")
        #expect(
            try await ModuleSample.twilio.exchange([step], message(within: .seconds(30))).answer
                == ProviderAnswer(.accepted)
        )
    }

    @Test func `that changes the protocol is unknown at once, and ends the connection`() async throws {
        let step = ServerStep.answer("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
        try await ScriptedServer.with([step]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url) { provider in
                let answer = await provider.send(try message(within: .seconds(20)))
                #expect(answer == ProviderAnswer(.unknown, errorCode: "malformed_answer"))
                try await eventually("the connection is closed") { server.seen.closedConnections == 1 }
            }
        }
    }

    @Test(arguments: ["Connection: close\r\n", "Keep-Alive: timeout=1\r\n", "Keep-Alive: timeout=0, max=100\r\n"])
    func `after which the connection is not kept leaves the next call a new one`(headers: String) async throws {
        try await ScriptedServer.with([answer("201 Created", Self.body, headers: headers)]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url) { provider in
                for _ in 0..<2 { #expect(await provider.send(try message()) == Self.accepted) }
                try await eventually("both are closed") { server.seen.closedConnections == 2 }
            }
            #expect(server.seen.connections == 2)
        }
    }

    @Test func `with a time for idle connections has the connection closed before`() async throws {
        let step = answer("201 Created", Self.body, headers: "Keep-Alive: timeout=2\r\n")
        try await ScriptedServer.with([step]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url) { provider in
                #expect(await provider.send(try message()) == Self.accepted)
                // The default idle time is 15 s.
                try await eventually("the connection is closed", within: .seconds(12)) {
                    server.seen.closedConnections == 1
                }
            }
        }
    }

    @Test func `after which the server ends the idle connection costs the next call nothing`() async throws {
        try await ScriptedServer.with([.answerAndFinish(Self.whole), .answer(Self.whole)]) { server in
            try await ModuleSample.twilio.with(baseURL: server.url) { provider in
                #expect(await provider.send(try message()) == Self.accepted)
                // The client closes its side once it has noticed.
                try await eventually("the connection is closed") { server.seen.closedConnections == 1 }
                #expect(await provider.send(try message()) == Self.accepted)
            }
            #expect(server.seen.requests.count == 2)
            #expect(server.seen.connections == 2)
        }
    }

    @Test(
        arguments: [
            (nil, 15), ("timeout=5", 4), ("timeout=5, max=100", 4), ("max=100, Timeout = \"7\"", 6),
            ("timeout=15", 14), ("timeout=16", 15), ("timeout=9223372036854775807", 15), ("timeout=2", 1),
            ("timeout=1", nil), ("timeout=0", nil), ("timeout=-9223372036854775808", nil), ("timeout=soon", 15),
            ("timeout=99999999999999999999", 15), ("timeout", 15), ("max=5", 15), ("", 15),
        ] as [(String?, Int64?)]
    )
    func `says how long its connection may be idle`(keepAlive: String?, seconds: Int64?) {
        var headers = HTTPHeaders()
        if let keepAlive { headers.add(name: "Keep-Alive", value: keepAlive) }
        let idleTime = seconds.map { TimeAmount.seconds($0) }
        let head = HTTPResponseHead(version: .http1_1, status: .created, headers: headers)
        #expect(head.idleTime(upTo: .seconds(15)) == idleTime)
        let older = HTTPResponseHead(version: .http1_0, status: .created, headers: headers)
        #expect(older.idleTime(upTo: .seconds(15)) == nil)
    }
}
