// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import Sandbox

/// A fleet that keeps what it is asked for, and approves one secret.
final class RecordingFleet: SandboxFleet {
    let note = "Everything is allowed."
    let approved: String?
    private let state = Mutex<(recipients: [FleetRecipient], guesses: [FleetGuess])>(([], []))

    var recipients: [FleetRecipient] { state.withLock { $0.recipients } }
    var guesses: [FleetGuess] { state.withLock { $0.guesses } }

    /// Without a secret to approve, it fails.
    init(approving secret: String?) {
        approved = secret
    }

    func request(for recipient: FleetRecipient) async throws -> String {
        state.withLock { $0.recipients.append(recipient) }
        guard approved != nil else { throw FleetError("the broker is away") }
        return "r-\(recipients.count)"
    }

    func check(_ guess: FleetGuess) async throws -> FleetVerdict {
        state.withLock { $0.guesses.append(guess) }
        return guess.secret == approved
            ? FleetVerdict(status: "approved", checksLeft: nil) : FleetVerdict(status: "incorrect", checksLeft: 4)
    }
}

/// A delivery event about a message, as a worker publishes it.
func delivery(about ids: [String: String], status: String = "sent", channel: String = "sms") throws -> SandboxDelivery {
    let event: [String: Any] = [
        "requestId": "r-1", "verificationId": "v-1", "tenant": "acme", "purpose": "sign_up", "status": status,
        "channel": channel, "recipient": ["masked": "+1******0123", "region": "US"],
        "send": ids.merging(["provider": "main"]) { $1 }, "occurredAt": "2026-11-20T09:41:00.000Z",
    ]
    return try #require(SandboxDelivery(try JSONSerialization.data(withJSONObject: event)))
}

@Suite(.timeLimit(.minutes(5)))
struct FleetTests {
    private static func error(_ answer: Answer) throws -> String { try answer.json["error"] as? String ?? "" }

    @Test
    func `a message's code is checked for the verification that its event names`() async throws {
        try await withSandbox { client in
            let fleet = RecordingFleet(approving: "482913")
            client.sandbox.connect(fleet)
            _ = try await client.send(.message())
            let message = try #require(await client.sandbox.messages().first)
            let form = ["message": message.sid, "guess": "482913"]
            // The event comes a moment after the message.
            let early = try await client.post("/sandbox/checks", json: form)
            #expect(early.status == 409 && fleet.guesses.isEmpty)
            #expect(try Self.error(early).contains("try again"))
            await client.sandbox.show(try delivery(about: ["providerMessageId": "SM-other"]))
            await client.sandbox.show(try delivery(about: ["providerMessageId": message.sid]))
            let right = try await client.post("/sandbox/checks", json: form)
            #expect(right.status == 200 && right.body == #"{"status":"approved"}"#)
            let wrong = try await client.post("/sandbox/checks", json: ["message": message.sid, "guess": "000000"])
            #expect(wrong.status == 200 && wrong.body == #"{"checksLeft":4,"status":"incorrect"}"#)
            let guess = try #require(fleet.guesses.first)
            #expect(guess.verificationID == "v-1" && guess.tenant == "acme" && guess.purpose == "sign_up")
            #expect(guess.email == nil)
        }
    }

    @Test
    func `a mail is found by the send's id, and its link is checked with its address`() async throws {
        try await withSandbox { client in
            let fleet = RecordingFleet(approving: "tok/en")
            client.sandbox.connect(fleet)
            try await MailClient(client.sandbox).send(MailClient.mail(), to: ["person@example.com"])
            let mail = try #require(await client.sandbox.emails().first)
            await client.sandbox.show(try delivery(about: ["id": "0191b6a0-send"], channel: "email"))
            let link = "https://acme.example/__/auth/links?mode=signIn&oobCode=tok%2Fen&lang=en#top"
            let answer = try await client.post("/sandbox/checks", json: ["message": mail.sid, "guess": link])
            #expect(answer.body == #"{"status":"approved"}"#)
            #expect(fleet.guesses.first?.email == "person@example.com")
        }
    }

    @Test
    func `a push is found by its own id`() async throws {
        try await withSandbox { client in
            client.sandbox.connect(RecordingFleet(approving: "s3cret"))
            _ = try await client.push()
            let push = try #require(await client.sandbox.pushes().first)
            await client.sandbox.show(try delivery(about: ["id": push.sid], channel: "apns"))
            let answer = try await client.post("/sandbox/checks", json: ["message": push.sid, "guess": "s3cret"])
            #expect(answer.body == #"{"status":"approved"}"#)
        }
    }

    @Test
    func `a request goes to whom was typed, and the fleet's failure is said`() async throws {
        try await withSandbox { client in
            let fleet = RecordingFleet(approving: "")
            client.sandbox.connect(fleet)
            let token = String(repeating: "0A", count: 32)
            for typed in ["+1 (650) 253-0000", " ada@example.com", token] {
                #expect(try await client.post("/sandbox/requests", json: ["to": typed]).status == 202)
            }
            #expect(fleet.recipients == [.phone("+16502530000"), .email("ada@example.com"), .device(token)])
            for typed in ["", "6502530000", "+", "++", "hello", String(repeating: "a", count: 400)] {
                let answer = try await client.post("/sandbox/requests", json: ["to": typed])
                #expect(answer.status == 400)
                #expect(try Self.error(answer).hasPrefix("to must be a number such as"))
            }
            client.sandbox.connect(RecordingFleet(approving: nil))
            let failed = try await client.post("/sandbox/requests", json: ["to": "+16502530000"])
            #expect(failed.status == 503 && failed.body == #"{"error":"the broker is away"}"#)
        }
    }

    @Test(arguments: ["/sandbox/requests", "/sandbox/checks"])
    func `neither a form nor a page of another origin uses the fleet`(path: String) async throws {
        try await withSandbox { client in
            let fleet = RecordingFleet(approving: "1")
            client.sandbox.connect(fleet)
            let body = #"{"to":"+16502530000","message":"m","guess":"1"}"#
            let json = ["content-type": "application/json"]
            for origin in ["http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:\(client.port)", "null"] {
                let answer = try await client.post(path, body, json.merging(["origin": origin]) { $1 })
                #expect(answer.status == 403, "\(origin)")
            }
            for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"] {
                #expect(try await client.post(path, body, ["content-type": type]).status == 415, "\(type)")
            }
            #expect(try await client.post(path, body).status == 415)
            #expect(fleet.recipients.isEmpty && fleet.guesses.isEmpty)
            let own = ["origin": "http://127.0.0.1:\(client.port)", "content-type": "application/json; charset=utf-8"]
            #expect(try await client.post(path, body, own).status == (path.hasSuffix("requests") ? 202 : 404))
        }
    }

    @Test
    func `broken bodies and unknown messages are said`() async throws {
        try await withSandbox { client in
            client.sandbox.connect(RecordingFleet(approving: "1"))
            let json = ["content-type": "application/json"]
            for body in ["", "[]", "{", "{\"to\":1}", "\u{0}"] {
                #expect(try await client.post("/sandbox/requests", body, json).status == 400, "\(body)")
                #expect(try await client.post("/sandbox/checks", body, json).status == 400, "\(body)")
            }
            let long = "{\"to\":\"" + String(repeating: "1", count: 20_000) + "\"}"
            #expect(try await client.post("/sandbox/requests", long, json).status == 413)
            let unknown = try await client.post("/sandbox/checks", json: ["message": "SM1", "guess": "1"])
            #expect(unknown.status == 404)
            #expect(try Self.error(unknown).hasPrefix("no message here"))
        }
    }

    @Test
    func `without a fleet, and where other machines connect, there is none`() async throws {
        try await withSandbox { client in
            let alone = try await client.request("GET", "/sandbox/health").json
            #expect(alone["fleet"] == nil && alone["status"] as? String == "ok")
            let answer = try await client.post("/sandbox/requests", json: ["to": "+16502530000"])
            #expect(answer.status == 404)
            #expect(try Self.error(answer).hasPrefix("no fleet"))
            client.sandbox.connect(RecordingFleet(approving: "1"))
            let health = try await client.request("GET", "/sandbox/health")
            #expect(try health.json["fleet"] as? String == "Everything is allowed.")
        }
        try await withSandbox(SandboxConfiguration(host: "0.0.0.0")) { client in
            client.sandbox.connect(RecordingFleet(approving: "1"))
            let alone = try await client.request("GET", "/sandbox/health").json
            #expect(alone["fleet"] == nil && alone["status"] as? String == "ok")
            #expect(try await client.post("/sandbox/requests", json: ["to": "+16502530000"]).status == 404)
        }
    }

    @Test
    func `what is no delivery event is none`() {
        for text in ["", "{}", "[1]", #"{"requestId":"r","status":1,"occurredAt":"x"}"#] {
            #expect(SandboxDelivery(Array(text.utf8)) == nil, "\(text)")
        }
    }
}
