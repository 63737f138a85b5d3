// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct TestRecipientTests {
    private static let configuration = SandboxConfiguration(
        hasTestRecipients: true,
        sentAfter: .zero,
        deliveredAfter: .milliseconds(40)
    )

    @Test(arguments: [
        ("71", 201, "undelivered", 30003), ("72", 201, "undelivered", 30007), ("73", 201, "undelivered", 30005),
        ("74", 201, "delivered", 0), ("76", 201, "delivered", 0), ("77", 201, "delivered", 0),
        ("80", 400, nil, 21211), ("81", 400, nil, 21610), ("82", 429, nil, 20429), ("83", 503, nil, 20503),
    ])
    func `a test number has its outcome every time`(
        ending: String,
        status: Int,
        last: String?,
        code: Int
    ) async throws {
        try await withSandbox(Self.configuration) { client in
            let number = "+120255501\(ending)"
            for _ in 0..<2 {
                let answer = try await client.send(.message(to: number))
                #expect(answer.status == status)
                if status >= 400 { #expect(try answer.json["code"] as? Int == code) }
            }
            guard let last else { return #expect(await client.sandbox.messages().isEmpty) }
            try await eventually("both have their last status") {
                await client.sandbox.messages().allSatisfy { $0.status.rawValue == last }
            }
            #expect(await client.sandbox.messages().map { $0.errorCode ?? 0 } == [code, code])
            if ending == "74" { #expect(await client.sandbox.receipts().isEmpty) }
        }
    }

    @Test
    func `each provider has the outcome in its own words`() async throws {
        try await withSandbox(Self.configuration) { client in
            #expect(try await client.vonage(["to": "12025550180"]).body.contains(#""status":"6""#))
            #expect(try await client.vonageMessages(["to": "12025550181"]).body.contains("#1240"))
            #expect(try await client.generic(["to": "+12025550181"]).body == #"{"error":{"code":"opted_out"}}"#)
            #expect(await client.sandbox.messages().isEmpty)
            _ = try await client.vonage(["to": "12025550172"])
            let receipt = try await eventually("the receipt") {
                await client.sandbox.receipts().first { $0.parameters["status"] == "failed" }
            }
            #expect(receipt.parameters["err-code"] == "6")
        }
    }

    @Test
    func `a number that is never answered is taken or not, as documented`() async throws {
        try await withSandbox(Self.configuration) { client in
            let never = try await client.begin(.message(to: "+12025550186")).read().text
            #expect(await client.sandbox.messages().isEmpty)
            let lost = try await client.begin(.message(to: "+12025550185")).read().text
            #expect(never.isEmpty && lost.isEmpty)
            #expect(await client.sandbox.messages().count == 1)
        }
    }

    @Test
    func `an address of a mail has its outcome, too`() async throws {
        try await withSandbox(Self.configuration) { client in
            var replies: [String] = []
            for name in ["refused", "later", "lost", "refusedly"] {
                let connection = try await MailClient(client.sandbox)
                replies.append(try await connection.send(MailClient.mail(), to: ["\(name)@example.com"]))
            }
            #expect(replies.map { $0.prefix(3) } == ["550", "450", "", "250"])
            #expect(await client.sandbox.emails().count == 2)
        }
    }

    @Test
    func `a scripted fault precedes, and another sandbox knows none of them`() async throws {
        try await withSandbox(Self.configuration) { client in
            client.sandbox.add(.status(500, code: nil, retryAfter: nil))
            let scripted = try await client.send(.message(to: "+12025550180"))
            let usual = try await client.send(.message(to: "+12025550180"))
            #expect(scripted.status == 500 && usual.status == 400)
        }
        try await withSandbox { client in
            let taken = try await client.send(.message(to: "+12025550180"))
            #expect(taken.status == 201)
        }
    }
}
