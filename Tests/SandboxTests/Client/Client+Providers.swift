// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools

@testable import Sandbox

extension Client {
    func post(_ path: String, _ body: String, _ headers: [String: String] = [:]) async throws -> Answer {
        let connection = try RawConnection(to: port)
        var head = "POST \(path) HTTP/1.1\r\nhost: 127.0.0.1:\(port)\r\nconnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        try connection.send(head + "content-length: \(body.utf8.count)\r\n\r\n" + body)
        return try Answer(await connection.read().text)
    }

    func post(_ path: String, json: [String: Any], _ headers: [String: String] = [:]) async throws -> Answer {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: json), as: UTF8.self)
        return try await post(path, body, headers.merging(["content-type": "application/json"]) { $1 })
    }

    func vonage(_ changes: [String: String] = [:]) async throws -> Answer {
        let form = [
            "api_key": "k", "api_secret": "s", "to": "14155550123", "from": "Acme", "text": "482913 is your Acme code.",
            "client-ref": "send-1", "ttl": "600000",
        ].merging(changes) { $1 }.filter { !$0.value.isEmpty }
        return try await post("/sms/json", Client.form(form), ["content-type": "application/x-www-form-urlencoded"])
    }

    func vonageMessages(_ changes: [String: Any] = [:], credentials: String = Client.credentials) async throws -> Answer
    {
        let json: [String: Any] = [
            "channel": "sms", "message_type": "text", "to": "14155550123", "from": "Acme",
            "text": "482913 is your Acme code.", "client_ref": "send-2", "ttl": 600,
        ]
        return try await post("/v1/messages", json: json.merging(changes) { $1 }, ["authorization": credentials])
    }

    func generic(_ changes: [String: Any] = [:], key: String? = nil) async throws -> Answer {
        let json: [String: Any] = ["to": "+14155550123", "text": "482913 is your Acme code.", "from": "Acme"]
        return try await post(
            "/http/messages",
            json: json.merging(changes) { $1 },
            key.map { ["idempotency-key": $0] } ?? [:]
        )
    }

    static let deviceToken = String(repeating: "0a", count: 32)

    static let pushHeaders = [
        "authorization": "bearer " + providerToken(), "apns-topic": "com.example.app", "apns-push-type": "background",
        "apns-priority": "5", "apns-expiration": "1795167660", "apns-id": "123e4567-e89b-12d3-a456-426614174000",
    ]

    static let pushBody =
        #"{"aps":{"content-available":1},"com.google.firebase.auth":{"receipt":"r-1","secret":"s3cret"}}"#

    /// Sends a push; an empty header is omitted.
    func push(
        to token: String = Client.deviceToken,
        _ changes: [String: String] = [:],
        body: String = Client.pushBody
    ) async throws -> Answer {
        let headers = Client.pushHeaders.merging(changes) { $1 }.filter { !$0.value.isEmpty }
        return try await post("/3/device/\(token)", body, headers)
    }

    /// A provider token in Apple's format with an invalid signature.
    static func providerToken(
        header: String = #"{"alg":"ES256","kid":"ABC123DEFG"}"#,
        issued: Double = Date().timeIntervalSince1970
    ) -> String {
        [header, #"{"iss":"TEAM123456","iat":\#(Int(issued))}"#, "signature"].map { part in
            Data(part.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        }.joined(separator: ".")
    }
}
