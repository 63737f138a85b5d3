// SPDX-License-Identifier: Apache-2.0

import Providers
import Testing
import Verification

@Suite struct `The request to Twilio` {
    private func received(
        _ change: @escaping @Sendable (inout TwilioConfiguration) -> Void = { _ in },
        message: OutboundMessage
    ) async throws -> ReceivedRequest {
        try await ModuleSample.twilio.changing(change).request(message)
    }

    @Test func `has the account's path, Basic authentication and a form`() async throws {
        let request = try await received(message: message())
        #expect(request.head.hasPrefix("POST /2010-04-01/Accounts/AC123/Messages.json HTTP/1.1\r\n"))
        // base64 of "AC123:tok-3n-s3cr3t"
        #expect(request.header("authorization") == "Basic QUMxMjM6dG9rLTNuLXMzY3IzdA==")
        #expect(request.header("content-type") == "application/x-www-form-urlencoded")
        #expect(request.header("content-length") == String(request.body.utf8.count))
        #expect(request.header("transfer-encoding") == nil)
        #expect(
            request.body
                == "To=%2B16505550123&From=%2B15005550006&Body=654321+is+your+code.&ValidityPeriod=600"
        )
    }

    @Test func `escapes every character that a form gives a meaning`() async throws {
        let request = try await received(message: message(text: "a+b&c=d% é🔑\n~*-._"))
        #expect(request.body.contains("&Body=a%2Bb%26c%3Dd%25+%C3%A9%F0%9F%94%91%0A%7E*-._&"))
    }

    @Test func `carries a messaging service and a callback when they are configured`() async throws {
        let request = try await received(
            { configuration in
                configuration.sender = .messagingService(sid: "MG7")
                configuration.statusCallback = "https://example.com/r"
                configuration.baseURL += "/"
            },
            message: message()
        )
        #expect(request.head.hasPrefix("POST /2010-04-01/Accounts/AC123/Messages.json HTTP/1.1\r\n"))
        #expect(request.body.contains("&MessagingServiceSid=MG7&"))
        #expect(!request.body.contains("From="))
        let callback = "https%3A%2F%2Fexample.com%2Fr%3FsendId%3D01890a5d-ac96-774b-bcce-b302099a8057"
        #expect(request.body.hasSuffix("&StatusCallback=\(callback)"))
    }

    @Test(arguments: [
        (Duration.seconds(-5), "1"), (.milliseconds(1999), "1"), (.seconds(61), "61"), (.seconds(Int64.max), "36000"),
    ])
    func `clamps the validity to Twilio's range`(validity: Duration, expected: String) async throws {
        let request = try await received(message: message(validity: validity))
        #expect(request.body.hasSuffix("&ValidityPeriod=\(expected)"))
    }
}
