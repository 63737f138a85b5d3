// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct PushContractTests {
    private static func bearer(header: String) -> [String: String] {
        ["authorization": "bearer " + Client.providerToken(header: header)]
    }

    @Test
    func `a silent push is answered with its identity and listed with its secret`() async throws {
        try await withTemporaryFile { path in
            try await withSandbox(SandboxConfiguration(recordFile: path)) { client in
                let answer = try await client.push()
                #expect(answer.status == 200)
                #expect(answer.headers["apns-id"] == "123e4567-e89b-12d3-a456-426614174000")
                #expect(answer.body.isEmpty)
                let push = try #require(await client.sandbox.pushes(to: Client.deviceToken).first)
                #expect(push.topic == "com.example.app")
                #expect(push.pushType == "background")
                #expect(push.priority == 5)
                #expect(push.receipt == "r-1")
                #expect(push.secret == "s3cret")
                let listed = try await client.request("GET", "/sandbox/pushes").objects("pushes")
                #expect(listed.map { $0["secret"] as? String } == ["s3cret"])
                let line = try #require(try recordedLines(path).first)
                #expect(line["kind"] as? String == "push")
                #expect(line["provider"] as? String == "apns")
                #expect(line["reference"] as? String == "123e4567-e89b-12d3-a456-426614174000")
                #expect(line["outcome"] as? String == "accepted")
                let unnamed = try await client.push(["apns-id": ""])
                #expect(UUID(uuidString: unnamed.headers["apns-id"] ?? "") != nil)
            }
        }
    }

    @Test(arguments: [
        (["authorization": ""], 403, "MissingProviderToken"),
        (["authorization": "bearer abc"], 403, "InvalidProviderToken"),
        (bearer(header: #"{"alg":"RS256","kid":"K"}"#), 403, "InvalidProviderToken"),
        (bearer(header: #"{"alg":"ES256"}"#), 403, "InvalidProviderToken"),
        (["authorization": "bearer " + Client.providerToken(issued: 1_700_000_000)], 403, "ExpiredProviderToken"),
        (["apns-topic": ""], 400, "MissingTopic"), (["apns-push-type": ""], 400, "InvalidPushType"),
        (["apns-push-type": "loud"], 400, "InvalidPushType"), (["apns-priority": "10"], 400, "BadPriority"),
        (["apns-priority": ""], 400, "BadPriority"), (["apns-id": "7"], 400, "BadMessageId"),
        (["apns-expiration": "soon"], 400, "BadExpirationDate"),
    ])
    func `a header that Apple refuses is refused with its reason`(
        changes: [String: String],
        status: Int,
        reason: String
    ) async throws {
        try await withSandbox { client in
            let answer = try await client.push(changes)
            #expect(answer.status == status)
            #expect(try answer.json["reason"] as? String == reason)
            #expect(await client.sandbox.pushes().isEmpty)
        }
    }

    @Test
    func `tokens and payloads that Apple refuses are refused`() async throws {
        try await withSandbox { client in
            for token in ["0a", "zz" + Client.deviceToken, String(repeating: "0a", count: 101)] {
                #expect(try await client.push(to: token).json["reason"] as? String == "BadDeviceToken")
            }
            #expect(try await client.push(body: "").json["reason"] as? String == "PayloadEmpty")
            let long = #"{"aps":{},"x":""# + String(repeating: "x", count: 4096) + "\"}"
            for body in [long, String(repeating: long, count: 20)] {
                let answer = try await client.push(body: body)
                #expect(answer.status == 413)
                #expect(try answer.json["reason"] as? String == "PayloadTooLarge")
            }
            let get = try await client.request("GET", "/3/device/\(Client.deviceToken)")
            #expect(get.status == 405)
            #expect(try get.json["reason"] as? String == "MethodNotAllowed")
        }
    }

    @Test
    func `faults happen by token, with Apple's reasons`() async throws {
        try await withSandbox { client in
            let gone = String(repeating: "0b", count: 32)
            client.sandbox.add(.status(410, code: nil, retryAfter: nil), to: gone, times: -1)
            client.sandbox.add(.reason("ExpiredProviderToken"), to: Client.deviceToken)
            client.sandbox.add(.status(503, code: nil, retryAfter: 3), to: Client.deviceToken)
            let answer = try await client.push(to: gone)
            #expect(answer.status == 410)
            #expect(try answer.json["reason"] as? String == "Unregistered")
            #expect(try answer.json["timestamp"] is Int)
            let expired = try await client.push()
            #expect(expired.status == 403)
            #expect(try expired.json["reason"] as? String == "ExpiredProviderToken")
            let unavailable = try await client.push()
            #expect(unavailable.status == 503)
            #expect(unavailable.headers["retry-after"] == "3")
            #expect(try await client.push().status == 200)
        }
    }
}
