// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct GenericGatewayTests {
    @Test
    func `a key given again gets the same answer and shows no second message`() async throws {
        try await withTemporaryFile { path in
            try await withSandbox(SandboxConfiguration(recordFile: path)) { client in
                let first = try await client.generic(key: "k-1")
                let again = try await client.generic(key: "k-1")
                let other = try await client.generic(key: "k-2")
                #expect([first, again, other].map(\.status) == [202, 202, 202])
                #expect(try first.json["id"] as? String == (try again.json["id"] as? String))
                #expect(try first.json["id"] as? String != (try other.json["id"] as? String))
                let conflict = try await client.generic(["text": "another"], key: "k-1")
                #expect(conflict.status == 422)
                #expect(await client.sandbox.messages().map(\.reference) == ["k-1", "k-2"])
                let lines = try recordedLines(path)
                #expect(
                    lines.map { $0["outcome"] as? String }
                        == ["accepted", "repeated", "accepted", "refused_idempotency_key_reused"]
                )
                #expect(lines.map { $0["accepted"] as? Bool } == [true, false, true, false])
            }
        }
    }

    @Test
    func `many requests with one key at once make one message`() async throws {
        try await withTemporaryFile { path in
            try await withSandbox(SandboxConfiguration(recordFile: path)) { client in
                let identities = try await withThrowingTaskGroup(of: String?.self) { group in
                    for _ in 0..<30 {
                        group.addTask { try await client.generic(key: "k").json["id"] as? String }
                    }
                    return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
                }
                #expect(identities.count == 1)
                #expect(await client.sandbox.messages().count == 1)
            }
        }
    }

    @Test
    func `a message refused by a fault leaves its key free`() async throws {
        try await withSandbox { client async throws in
            client.sandbox.add(.status(503, code: nil, retryAfter: nil))
            #expect(try await client.generic(key: "k").status == 503)
            client.sandbox.add(.cut(.after))
            _ = try? await client.generic(key: "k")
            #expect(try await client.generic(key: "k").status == 202)
            #expect(await client.sandbox.messages().count == 1)
        }
    }

    @Test(arguments: [(["to": "nobody"], "invalid_to"), (["text": ""], "invalid_text"), (["to": ""], "invalid_to")])
    func `a faulty message is refused`(changes: [String: String], code: String) async throws {
        try await withSandbox { client in
            let answer = try await client.generic(changes)
            #expect(answer.status == 422)
            #expect((try answer.json["error"] as? [String: String])?["code"] == code)
            for body in ["", "[]", "{", "\"x\"", String(repeating: "[", count: 10_000)] {
                #expect(try await client.post("/http/messages", body).status == 400)
            }
            #expect(await client.sandbox.messages().isEmpty)
        }
    }

    @Test
    func `receipts carry the reference`() async throws {
        let quick = SandboxConfiguration(sentAfter: .zero, deliveredAfter: .milliseconds(20))
        try await withSandbox(quick) { client in
            _ = try await client.generic(["reference": "send-9", "callback": "http://127.0.0.1/c"])
            try await eventually("two receipts") { await client.sandbox.receipts().count == 2 }
            let last = try #require(await client.sandbox.receipts().last)
            let sid = try #require(await client.sandbox.messages().first?.sid)
            #expect(last.parameters == ["id": sid, "status": "delivered", "reference": "send-9"])
            #expect(last.statusCallback == "http://127.0.0.1/c")
        }
    }
}
