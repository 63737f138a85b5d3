// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct InboxTests {
    @Test
    func `a log keeps the newest, by number`() {
        var log = BoundedLog<Int>(capacity: 10)
        var dropped: [Int] = []
        for number in 1...1000 {
            #expect(log.nextNumber == number)
            dropped += log.append(number)
            #expect(Array(log.elements) == Array(max(1, number - 9)...number))
            #expect(log[number] == number)
            #expect(log[number - 10] == nil)
            #expect(log[number + 1] == nil)
        }
        #expect(dropped == Array(1...dropped.count))
        #expect(dropped.count >= 985)
        #expect(Array(log.elements(after: 995)) == [996, 997, 998, 999, 1000])
        #expect(log.elements(after: 0).count == 10)
        #expect(log.elements(after: 1000).isEmpty)
        #expect(log.elements(after: .max).isEmpty)
        #expect(log.elements(after: .min).count == 10)
        log.removeAll()
        #expect(log.elements.isEmpty)
        #expect(log.nextNumber == 1001)
        log[1000] = 1
        #expect(log[1000] == nil)
    }

    @Test
    func `only the newest messages are kept`() async throws {
        try await withSandbox(SandboxConfiguration(maximumMessages: 5)) { client in
            for number in 1...12 { _ = try await client.send(.message(body: "number \(number)")) }
            let answer = try await client.request("GET", "/sandbox/messages")
            #expect(try answer.objects("messages").map { $0["sequence"] as? Int } == [8, 9, 10, 11, 12])
            let health = try await client.request("GET", "/sandbox/health").json
            #expect(health["accepted"] as? Int == 12)
            #expect(health["kept"] as? Int == 5)
            #expect(await client.sandbox.messages().first?.body == "number 8")
        }
    }

    @Test
    func `messages are found by recipient and sequence`() async throws {
        try await withSandbox { client in
            for recipient in ["+14155550001", "+14155550002", "+14155550001"] {
                _ = try await client.send(.message(to: recipient))
            }
            for query in ["?to=%2B14155550001&after=1", "?to=+14155550001&after=1"] {
                let found = try await client.request("GET", "/sandbox/messages" + query).objects("messages")
                #expect(found.map { $0["sequence"] as? Int } == [3])
            }
            let message = try #require(
                try await client.request("GET", "/sandbox/messages?limit=1").objects("messages").first
            )
            #expect(message["code"] as? String == "482913")
            #expect(message["segments"] as? Int == 1)
            #expect(message["encoding"] as? String == "GSM-7")
            #expect(message["receivedAt"] is String)
            await client.sandbox.clearMessages()
            _ = try await client.send(.message())
            #expect(await client.sandbox.messages().map(\.sequence) == [4])
        }
    }
}
