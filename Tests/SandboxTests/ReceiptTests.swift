// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct ReceiptTests {
    private static let quick = SandboxConfiguration(sentAfter: .zero, deliveredAfter: .milliseconds(40))

    private static func statuses(_ receipts: [SandboxReceipt], of sid: String) -> [String?] {
        receipts.filter { $0.parameters["MessageSid"] == sid }.map { $0.parameters["MessageStatus"] }
    }

    @Test
    func `a delivered message has two receipts in the shape of a callback`() async throws {
        let received = Mutex<[SandboxReceipt]>([])
        var configuration = Self.quick
        configuration.receiptSink = { receipt in received.withLock { $0.append(receipt) } }
        let sunk: @Sendable () -> [SandboxReceipt] = { received.withLock { $0 } }
        try await withSandbox(configuration) { client in
            _ = try await client.send(.message().merging(["StatusCallback": "http://127.0.0.1/r?sendId=7"]) { $1 })
            try await eventually("two receipts") { sunk().count == 2 }
            let message = try #require(await client.sandbox.messages().first)
            #expect(message.status == .delivered)
            let answer = try await client.request("GET", "/sandbox/receipts?after=1")
            let last = try #require(try answer.objects("receipts").first)
            #expect(last["sequence"] as? Int == 2)
            #expect(last["statusCallback"] as? String == "http://127.0.0.1/r?sendId=7")
            #expect(
                last["parameters"] as? [String: String] == [
                    "MessageSid": message.sid, "SmsSid": message.sid, "MessageStatus": "delivered",
                    "SmsStatus": "delivered", "To": "+14155550123", "From": "Acme", "AccountSid": "AC1",
                    "ApiVersion": "2010-04-01",
                ]
            )
            #expect(await client.sandbox.receipts() == sunk())
        }
    }

    @Test
    func `receipts come late, not at all, twice, or with bad news, as scripted`() async throws {
        try await withSandbox(Self.quick) { client in
            client.sandbox.add(.receipt(.lost))
            client.sandbox.add(.receipt(.doubled(.milliseconds(10))))
            client.sandbox.add(.receipt(.undelivered(code: 30003)))
            client.sandbox.add(.receipt(.late(.milliseconds(400))))
            for _ in 0..<4 { #expect(try await client.send(.message()).status == 201) }
            let sids = await client.sandbox.messages().map(\.sid)
            try await eventually("the late one") {
                Self.statuses(await client.sandbox.receipts(), of: sids[3]).count == 2
            }
            let receipts = await client.sandbox.receipts()
            #expect(Self.statuses(receipts, of: sids[0]).isEmpty)
            #expect(Self.statuses(receipts, of: sids[1]) == ["sent", "delivered", "delivered"])
            #expect(Self.statuses(receipts, of: sids[2]) == ["sent", "undelivered"])
            #expect(Self.statuses(receipts, of: sids[3]) == ["sent", "delivered"])
            #expect(receipts.last?.parameters["MessageSid"] == sids[3])
            let failed = receipts.first { $0.parameters["MessageStatus"] == "undelivered" }
            #expect(failed?.parameters["ErrorCode"] == "30003")
            let messages = await client.sandbox.messages()
            #expect(messages.map(\.status) == [.delivered, .delivered, .undelivered, .delivered])
            #expect(messages[2].errorCode == 30003)
        }
    }
}
