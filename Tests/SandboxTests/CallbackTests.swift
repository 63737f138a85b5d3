// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
import Foundation
import TestTools
import Testing
import Verification

@testable import Providers
@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct CallbackTests {
    private static let posting = SandboxConfiguration(
        postsReceipts: true,
        sentAfter: .zero,
        deliveredAfter: .milliseconds(40)
    )

    @Test
    func `each provider's receipts reach the address that the message names, in the provider's form`() async throws {
        let receiver = CallbackReceiver()
        defer { receiver.close() }
        let address = { (name: String) in "http://127.0.0.1:\(receiver.port)/\(name)?sendId=7" }
        let of = { (name: String) in receiver.received.filter { $0.head.hasPrefix("post /\(name)?sendid=7 ") } }
        try await withSandbox(Self.posting) { client in
            let answer = try await client.send(.message().merging(["StatusCallback": address("twilio")]) { $1 })
            let sid = try #require(try answer.json["sid"] as? String)
            _ = try await client.vonage(["callback": address("vonage")])
            _ = try await client.vonageMessages(["webhook_url": address("messages")])
            _ = try await client.generic(["callback": address("generic")])
            // Nobody is to be called about this one.
            _ = try await client.generic()
            try await eventually("two receipts each") { receiver.received.count >= 8 }
            let form = of("twilio").map(\.body)
            #expect(form.count == 2 && form.allSatisfy { $0.contains("MessageSid=\(sid)&") })
            #expect(form.first?.contains("MessageStatus=sent&") == true && form.first?.contains("To=%2B1415") == true)
            #expect(form.last?.contains("MessageStatus=delivered&") == true)
            #expect(of("twilio").first?.head.contains("content-type: application/x-www-form-urlencoded") == true)
            let vonage = try Self.json(of("vonage").last)
            #expect(vonage["status"] as? String == "delivered" && vonage["client-ref"] as? String == "send-1")
            let messages = try Self.json(of("messages").last)
            #expect(messages["status"] as? String == "delivered" && messages["client_ref"] as? String == "send-2")
            #expect((messages["destination"] as? [String: String])?["network_code"] == "12345")
            let generic = try Self.json(of("generic").last)
            #expect(generic["status"] as? String == "delivered")
            try await Self.expect(client, #"{"failed":0,"posted":8}"#)
            #expect(receiver.received.count == 8)
        }
    }

    @Test
    func `an address that takes no receipt is counted, and none is called unless asked for`() async throws {
        let receiver = CallbackReceiver(answering: "500 Oops")
        defer { receiver.close() }
        let address = "http://127.0.0.1:\(receiver.port)/r"
        try await withSandbox(Self.posting) { client in
            _ = try await client.generic(["callback": address])
            _ = try await client.generic(["callback": "nonsense://\u{7f}"])
            _ = try await client.generic(["callback": "http://127.0.0.1:1/nobody"])
            try await Self.expect(client, #"{"failed":6,"posted":0}"#)
            #expect(receiver.received.count == 2)
        }
        try await withSandbox(SandboxConfiguration(sentAfter: .zero, deliveredAfter: .zero)) { client in
            _ = try await client.generic(["callback": address])
            try await eventually("two receipts") { await client.sandbox.receipts().count == 2 }
            #expect(receiver.received.count == 2)
            let health = try await client.request("GET", "/sandbox/health")
            #expect(health.status == 200 && !health.body.contains("callbacks"))
        }
    }

    @Test
    func `receipts are signed with a secret as a worker checks them, and another secret fits none`() async throws {
        let receiver = CallbackReceiver()
        defer { receiver.close() }
        let send = "0193a5b0-1c40-7b11-9d22-33e44f556a77"
        let address = { (name: String) in "http://127.0.0.1:\(receiver.port)/\(name)?sendId=\(send)" }
        var configuration = Self.posting
        configuration.signatureSecret = "s3cret"
        try await withSandbox(configuration) { client in
            _ = try await client.send(.message().merging(["StatusCallback": address("twilio")]) { $1 })
            _ = try await client.vonage(["callback": address("vonage"), "client-ref": "a=b&c"])
            _ = try await client.vonageMessages(["webhook_url": address("vonage")])
            _ = try await client.generic(["callback": address("generic")])
            try await Self.expect(client, #"{"failed":0,"posted":8}"#)
        }
        let delivered = receiver.received.filter { $0.body.contains("delivered") }
        #expect(delivered.count == 4)
        for received in delivered {
            guard !received.head.hasPrefix("post /generic") else {
                let key = SymmetricKey(data: Array("s3cret".utf8))
                let code = HMAC<SHA256>.authenticationCode(for: Array(received.body.utf8), using: key)
                #expect(received.headers["x-signature"] == "sha256=\(hexadecimal(Array(code)))")
                continue
            }
            let name = received.head.hasPrefix("post /twilio") ? "twilio" : "vonage"
            #expect(try Self.read(received, name, address(name), "s3cret").isDelivered, "\(received.head)")
            #expect(try Self.read(received, name, address(name), "other") == .deadLetter(.badSignature))
        }
    }

    /// Reads a callback as a worker does that requires signatures.
    private static func read(
        _ received: CallbackReceiver.Received,
        _ provider: String,
        _ url: String,
        _ secret: String
    ) throws -> ReceiptReading {
        let entry = { (signature: any ReceiptSignature) in
            ReceiptSecrets.Entry(signature, secrets: [Array(secret.utf8)], isRequired: true)
        }
        let secrets = ReceiptSecrets(
            ["twilio": entry(TwilioSignature()), "vonage": entry(VonageSignature(digest: .sha256))],
            formats: ProviderModules.all.compactMap { $0.receipts }
        )
        let receipt: [String: Any] = [
            "provider": provider, "url": url, "headers": received.headers, "body": received.body,
        ]
        let record = InboundRecord(
            topic: "verification.receipts",
            partition: 0,
            offset: 0,
            timestamp: .now,
            key: nil,
            value: Array(try JSONSerialization.data(withJSONObject: receipt)),
            headers: []
        )
        return Receipt.read(record, secrets: secrets)
    }

    private static func expect(_ client: Client, _ counts: String) async throws {
        try await eventually("the counts are \(counts)") {
            try await client.request("GET", "/sandbox/health").body.contains("\"callbacks\":\(counts)")
        }
    }

    private static func json(_ received: CallbackReceiver.Received?) throws -> [String: Any] {
        let body = try #require(received).body
        return try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
    }
}

extension ReceiptReading {
    fileprivate var isDelivered: Bool {
        if case .receipt(let receipt) = self { receipt.status == .delivered } else { false }
    }
}
