// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct SNSContractTests {
    private static let authorization =
        "AWS4-HMAC-SHA256 Credential=AKIA1/20261120/eu-central-1/sns/aws4_request, SignedHeaders=host, Signature=00"

    private static func publish(
        _ client: Client,
        _ changes: [String: String] = [:],
        authorization: String? = Self.authorization
    ) async throws -> Answer {
        let form = [
            "Action": "Publish", "Version": "2010-03-31", "PhoneNumber": "+14155550123",
            "Message": "482913 is your Acme code.", "MessageAttributes.entry.1.Name": "AWS.SNS.SMS.SMSType",
            "MessageAttributes.entry.1.Value.StringValue": "Transactional",
            "MessageAttributes.entry.2.Name": "AWS.SNS.SMS.SenderID",
            "MessageAttributes.entry.2.Value.StringValue": "Acme",
        ].merging(changes) { $1 }.filter { !$0.value.isEmpty }
        let headers = ["content-type": "application/x-www-form-urlencoded", "authorization": authorization ?? ""]
        return try await client.post("/", Client.form(form), headers.filter { !$0.value.isEmpty })
    }

    @Test
    func `a published message is shown, and answered with its id in XML`() async throws {
        let quick = SandboxConfiguration(sentAfter: .zero, deliveredAfter: .milliseconds(40))
        try await withSandbox(quick) { client in
            let answer = try await Self.publish(client)
            #expect(answer.status == 200 && answer.headers["content-type"] == "text/xml")
            let message = try #require(await client.sandbox.messages().first)
            #expect(answer.body.hasPrefix("<PublishResponse "))
            #expect(answer.body.contains("<PublishResult><MessageId>\(message.sid)</MessageId></PublishResult>"))
            #expect(message.provider == .sns && message.from == "Acme" && message.accountSid == "AKIA1")
            #expect(message.to == "+14155550123" && message.code == "482913")
            let receipt = try await eventually("the log's entry") { await client.sandbox.receipts().first }
            #expect(receipt.parameters["notification.messageId"] == message.sid)
            #expect(receipt.parameters["status"] == "SUCCESS" && receipt.statusCallback == nil)
        }
    }

    @Test(arguments: [
        (["Action": ""], "MissingAction"), (["Action": "Subscribe"], "InvalidAction"),
        (["PhoneNumber": "14155550123"], "InvalidParameter"), (["Message": ""], "InvalidParameter"),
    ])
    func `a wrong one is refused in Amazon's words`(changes: [String: String], code: String) async throws {
        try await withSandbox { client in
            let answer = try await Self.publish(client, changes)
            #expect(answer.status == 400 && answer.body.contains("<Error><Type>Sender</Type><Code>\(code)</Code>"))
            #expect(await client.sandbox.messages().isEmpty)
        }
    }

    @Test
    func `an unsigned one is refused, and faults are told in XML`() async throws {
        try await withSandbox { client in
            let unsigned = try await Self.publish(client, authorization: nil)
            #expect(unsigned.status == 403 && unsigned.body.contains("<Code>MissingAuthenticationToken</Code>"))
            client.sandbox.add(.status(503, code: nil, retryAfter: nil))
            client.sandbox.add(.reason("Opted<Out>"))
            client.sandbox.add(.rate(perSecond: 0), times: -1)
            let failed = try await Self.publish(client)
            #expect(failed.status == 503 && failed.body.contains("<Type>Receiver</Type><Code>InternalError</Code>"))
            #expect(try await Self.publish(client).body.contains("<Code>OptedOut</Code>"))
            let throttled = try await Self.publish(client)
            #expect(throttled.status == 429 && throttled.body.contains("<Code>Throttled</Code>"))
        }
    }
}
