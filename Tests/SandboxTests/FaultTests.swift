// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct FaultTests {
    @Test
    func `a delayed message is taken at once and answered later`() async throws {
        try await withSandbox { client in
            client.sandbox.add(.delay(.seconds(3600)))
            let waiting = try client.begin()
            try await eventually("taken") { await client.sandbox.messages().count == 1 }
            let (none, end) = await waiting.read(within: .milliseconds(50))
            #expect(none.isEmpty)
            #expect(end == .deadline)
            client.sandbox.add(.delay(.milliseconds(300)))
            let start = ContinuousClock.now
            let (text, _) = try await client.begin().read()
            #expect(text.hasPrefix("HTTP/1.1 201"))
            #expect(ContinuousClock.now - start >= .milliseconds(300))
        }
    }

    @Test
    func `a scripted status is answered and the message not taken`() async throws {
        try await withSandbox { client in
            client.sandbox.add(.status(429, code: 20429, retryAfter: 7))
            client.sandbox.add(.status(503, code: nil, retryAfter: nil))
            let throttled = try await client.send(.message())
            #expect(throttled.status == 429)
            #expect(throttled.headers["retry-after"] == "7")
            #expect(try throttled.json["code"] as? Int == 20429)
            let unavailable = try await client.send(.message())
            #expect(unavailable.status == 503)
            #expect(try unavailable.json["code"] as? Int == 20503)
            #expect(await client.sandbox.messages().isEmpty)
            #expect(try await client.send(.message()).status == 201)
        }
    }

    @Test(arguments: [nil, "+14155550123"])
    func `a cut before leaves no message and no answer`(recipient: String?) async throws {
        try await withTemporaryFile { path in
            try await withSandbox(SandboxConfiguration(recordFile: path)) { client in
                client.sandbox.add(.cut(.before), to: recipient)
                let (text, end) = try await client.begin().read()
                #expect(text.isEmpty)
                #expect(end == .closed)
                #expect(await client.sandbox.messages().isEmpty)
                #expect(try recordedLines(path).isEmpty)
            }
        }
    }

    @Test
    func `a cut before comes before the body is read`() async throws {
        try await withSandbox { client in
            client.sandbox.add(.cut(.before))
            let connection = try RawConnection(to: client.port)
            let whole = client.bytes("POST", Client.messages, body: Client.form(.message()))
            try connection.send(String(whole.dropLast(10)))
            let (text, end) = await connection.read()
            #expect(text.isEmpty)
            #expect(end == .closed)
        }
    }

    @Test
    func `a cut after leaves the message and no answer`() async throws {
        try await withTemporaryFile { path in
            try await withSandbox(SandboxConfiguration(recordFile: path)) { client in
                client.sandbox.add(.cut(.after))
                let (text, end) = try await client.begin().read()
                #expect(text.isEmpty)
                #expect(end == .closed)
                let message = try #require(await client.sandbox.messages().first)
                let line = try #require(try recordedLines(path).first)
                #expect(line["outcome"] as? String == "cut_after")
                #expect(line["sid"] as? String == message.sid)
            }
        }
    }

    @Test
    func `a silent gateway takes the message and keeps the connection open`() async throws {
        try await withSandbox { client in
            client.sandbox.add(.silence)
            let connection = try client.begin()
            try await eventually("taken") { await client.sandbox.messages().count == 1 }
            let (text, end) = await connection.read(within: .milliseconds(300))
            #expect(text.isEmpty)
            #expect(end == .deadline)
        }
    }

    @Test
    func `a dripping answer comes a byte at a time`() async throws {
        try await withSandbox { client in
            client.sandbox.add(.drip(.milliseconds(1)))
            let connection = try client.begin()
            let start = ContinuousClock.now
            let (head, _) = await connection.read { $0.contains("\r\n\r\n") }
            #expect(head.hasPrefix("HTTP/1.1 201"))
            // The answer has hundreds of delayed bytes, and each may wait for a busy machine.
            let (rest, end) = await connection.read(within: .seconds(60))
            #expect(end == .closed)
            let answer = try Answer(head + rest)
            #expect(answer.headers["content-length"] == String(answer.body.utf8.count))
            #expect(try answer.json["status"] as? String == "queued")
            #expect(ContinuousClock.now - start >= .milliseconds(answer.body.utf8.count))
        }
    }

    @Test
    func `an endless answer goes on until the client hangs up`() async throws {
        try await withSandbox { client in
            client.sandbox.add(.endless)
            let connection = try client.begin()
            let (text, end) = await connection.read(within: .seconds(60)) { $0.utf8.count > 50_000 }
            #expect(end == .satisfied)
            #expect(text.contains("transfer-encoding: chunked"))
            connection.hangUp()
            #expect(try await client.send(.message()).status == 201)
        }
    }

    @Test
    func `a scripted error refuses the message with its code`() async throws {
        try await withSandbox { client in
            client.sandbox.add(.error(code: 21610))
            let answer = try await client.send(.message())
            #expect(answer.status == 400)
            #expect(try answer.json["code"] as? Int == 21610)
            #expect(await client.sandbox.messages().isEmpty)
        }
    }

    @Test(arguments: [Fault.cut(.after), .drip(.milliseconds(1)), .delay(.milliseconds(1))])
    func `a fault of the connection happens to every provider`(fault: Fault) async throws {
        try await withSandbox { client in
            let calls: [(Int, () async throws -> Answer)] = [
                (200, { try await client.vonage() }), (202, { try await client.vonageMessages() }),
                (202, { try await client.generic() }), (200, { try await client.push() }),
            ]
            for (status, call) in calls {
                client.sandbox.add(fault)
                let answer = try? await call()
                #expect(answer?.status == (fault == .cut(.after) ? nil : status))
            }
            #expect(await client.sandbox.messages().map(\.provider) == [.vonage, .vonageMessages, .http])
            #expect(await client.sandbox.pushes().count == 1)
        }
    }
}
