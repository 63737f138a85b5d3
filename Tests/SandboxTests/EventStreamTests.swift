// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct EventStreamTests {
    private static func open(_ client: Client, query: String = "", header: String = "") throws -> RawConnection {
        let connection = try RawConnection(to: client.port)
        try connection.send("GET /sandbox/events\(query) HTTP/1.1\r\nhost: localhost\r\n\(header)\r\n")
        return connection
    }

    private static func identifiers(_ text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    }

    @Test
    func `a message is told while the stream is open, and its way to delivered`() async throws {
        // The delays are long enough for a stalled stream to show the message before its status changes.
        let slow = SandboxConfiguration(sentAfter: .seconds(3), deliveredAfter: .seconds(3))
        try await withSandbox(slow) { client in
            _ = try await client.send(.message(body: "old news"))
            let connection = try Self.open(client)
            let (head, _) = await connection.read { $0.contains("retry:") }
            #expect(head.contains("text/event-stream"))
            #expect(!head.contains("old news"))
            _ = try await client.send(.message(body: "fresh 123456"))
            let (text, end) = await connection.read { $0.contains("\"status\":\"delivered\"") && $0.contains("fresh") }
            #expect(end == .satisfied)
            #expect(text.contains("event: message\nid: "))
            #expect(text.contains("event: status\nid: "))
            #expect(text.contains("fresh 123456"))
        }
    }

    @Test
    func `a stream from the start tells what is kept, one from an event what came behind it`() async throws {
        let still = SandboxConfiguration(sentAfter: .seconds(60), deliveredAfter: .seconds(60))
        try await withSandbox(still) { client in
            for number in 1...3 { _ = try await client.send(.message(body: "number \(number).")) }
            let (all, _) = try await Self.open(client, query: "?after=0").read { $0.contains("number 3.") }
            #expect(all.contains("number 1."))
            let second = try #require(Self.identifiers(all).dropFirst().first)
            let resumed = try Self.open(client, query: "?after=0", header: "Last-Event-ID: \(second)\r\n")
            let (rest, _) = await resumed.read { $0.contains("number 3.") }
            #expect(!rest.contains("number 2."))
            #expect(!rest.contains("event: reset"))
        }
    }

    @Test
    func `clearing, and an event id of another run, reset the stream`() async throws {
        try await withSandbox { client in
            _ = try await client.send(.message(body: "one"))
            let stranger = try Self.open(client, header: "Last-Event-ID: 0-999\r\n")
            let (text, end) = await stranger.read { $0.contains("event: reset") && $0.contains("\"body\":\"one\"") }
            #expect(end == .satisfied, "\(text)")
            let connection = try Self.open(client)
            _ = await connection.read { $0.contains("retry:") }
            #expect(try await client.request("DELETE", "/sandbox/messages").status == 204)
            let (after, _) = await connection.read { $0.contains("event: reset") }
            #expect(after.contains("event: reset"))
            #expect(await client.sandbox.messages().isEmpty)
            #expect(await client.sandbox.receipts().isEmpty)
        }
    }

    @Test
    func `a quiet stream carries a heartbeat`() async throws {
        try await withSandbox(SandboxConfiguration(heartbeat: .milliseconds(50))) { client in
            let (text, end) = try await Self.open(client).read { $0.contains(": still here\n\n") }
            #expect(end == .satisfied, "\(text)")
        }
    }

    @Test
    func `a stream that its reader left makes room for another`() async throws {
        try await withSandbox { client in
            for _ in 0..<3 {
                var connections: [RawConnection] = []
                for _ in 0..<Broadcast.capacity { connections.append(try Self.open(client)) }
                for connection in connections {
                    let (text, end) = await connection.read { $0.contains("retry:") }
                    #expect(end == .satisfied, "\(text)")
                }
                #expect(try await client.request("GET", "/sandbox/events").status == 503)
                for connection in connections { connection.hangUp() }
                try await eventually("room") {
                    let (text, _) = try await Self.open(client).read { $0.contains("\r\n\r\n") }
                    return text.contains(" 200 ")
                }
                try await eventually("all have left") {
                    try await client.request("GET", "/sandbox/health").json["streams"] as? Int == 0
                }
            }
        }
    }
}
