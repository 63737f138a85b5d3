// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct PageTests {
    @Test
    func `the page allows nothing but itself`() async throws {
        try await withSandbox { client in
            let answer = try await client.request("GET", "/", credentials: nil)
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "text/html; charset=utf-8")
            let policy = try #require(answer.headers["content-security-policy"])
            #expect(policy.hasPrefix("default-src 'none';"))
            #expect(!policy.contains("unsafe"))
            let nonce = try #require(policy.firstMatch(of: /script-src 'nonce-([0-9a-z]+)'/)?.1)
            #expect(answer.body.components(separatedBy: "<script").count == 2)
            #expect(answer.body.contains("<script nonce=\"\(nonce)\">"))
            #expect(answer.body.contains("<style nonce=\"\(nonce)\">"))
            let again = try await client.request("GET", "/").headers["content-security-policy"]
            #expect(again != policy)
        }
    }

    @Test
    func `the page refers to nothing elsewhere and never makes markup of text`() async throws {
        try await withSandbox { client in
            let page = try await client.request("GET", "/").body
            #expect(page.count > 10_000)
            for forbidden in [
                "http://", "https://", "src=", "href=", "url(", "@import", "innerHTML", "outerHTML",
                "insertAdjacentHTML", "document.write", "eval(", " style=\"", "onclick",
            ] {
                #expect(!page.contains(forbidden), "\(forbidden)")
            }
            #expect(page.contains("code-courier request send"))
        }
    }

    @Test
    func `a hostile body reaches the page as data only`() async throws {
        let hostile = "</script><img src=x onerror=alert(1)>\u{2028}\ndata: {}\n\nevent: reset 123456"
        try await withSandbox { client in
            _ = try await client.send(.message(body: hostile))
            let answer = try await client.request("GET", "/sandbox/messages?to=%2B14155550123")
            #expect(answer.headers["content-type"] == "application/json")
            #expect(try answer.objects("messages").first?["body"] as? String == hostile)
            let stream = try RawConnection(to: client.port)
            try stream.send("GET /sandbox/events?after=0 HTTP/1.1\r\nhost: localhost\r\n\r\n")
            let (text, _) = await stream.read { $0.contains("onerror") }
            #expect(!text.contains("\nevent: reset"))
            #expect(!text.contains("\ndata: {}"))
        }
    }

    @Test
    func `a mail's HTML is a page that may do nothing`() async throws {
        try await withSandbox { client in
            try await MailClient(client.sandbox).send(MailClient.mail(), to: ["p@example.com"])
            let answer = try await client.request("GET", "/sandbox/emails/1/html", credentials: nil)
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "text/html; charset=utf-8")
            let policy = try #require(answer.headers["content-security-policy"])
            #expect(policy.hasPrefix("sandbox; default-src 'none';"))
            #expect(!policy.contains("script"))
            #expect(!policy.contains("allow"))
            for path in ["2/html", "0/html", "x/html", "9223372036854775807/html", "-9223372036854775808/html"] {
                #expect(try await client.request("GET", "/sandbox/emails/\(path)").status == 404)
            }
        }
    }
}
