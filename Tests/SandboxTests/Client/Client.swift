// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing

@testable import Sandbox

/// A client of one sandbox; each request uses a new connection.
struct Client: Sendable {
    let sandbox: Sandbox
    let port: Int

    static let credentials = "Basic " + Data("AC1:token".utf8).base64EncodedString()
    static let messages = "/2010-04-01/Accounts/AC1/Messages.json"

    /// The bytes of a request that asks the server to close the connection after its answer.
    func bytes(
        _ method: String,
        _ path: String,
        body: String = "",
        credentials: String? = Client.credentials,
        host: String = "127.0.0.1"
    ) -> String {
        var head = "\(method) \(path) HTTP/1.1\r\nhost: \(host):\(port)\r\nconnection: close\r\n"
        if let credentials { head += "authorization: \(credentials)\r\n" }
        if method == "POST" { head += "content-length: \(body.utf8.count)\r\n" }
        return head + "\r\n" + body
    }

    func request(
        _ method: String,
        _ path: String,
        body: String = "",
        credentials: String? = Client.credentials,
        host: String = "127.0.0.1"
    ) async throws -> Answer {
        let connection = try RawConnection(to: port)
        try connection.send(bytes(method, path, body: body, credentials: credentials, host: host))
        return try Answer(await connection.read().text)
    }

    func send(_ parameters: [String: String], credentials: String? = Client.credentials) async throws -> Answer {
        try await request("POST", Self.messages, body: Self.form(parameters), credentials: credentials)
    }

    /// Opens a connection and sends a message without reading the answer.
    func begin(_ parameters: [String: String] = .message()) throws -> RawConnection {
        let connection = try RawConnection(to: port)
        try connection.send(bytes("POST", Self.messages, body: Self.form(parameters)))
        return connection
    }

    static func form(_ parameters: [String: String]) -> String {
        let plain = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{7F}"))
        func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }
        return parameters.map { escaped($0) + "=" + escaped($1) }.joined(separator: "&")
    }
}

struct Answer {
    struct Malformed: Error {}

    let status: Int
    /// Header names are in lower case.
    let headers: [String: String]
    let body: String

    init(_ text: String) throws {
        guard let end = text.range(of: "\r\n\r\n") else { throw Malformed() }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let parts = (lines.first ?? "").split(separator: " ")
        guard parts.count > 1, let code = Int(parts[1]) else { throw Malformed() }
        status = code
        headers = lines.dropFirst().reduce(into: [:]) { result, line in
            let pair = line.split(separator: ":", maxSplits: 1)
            if pair.count == 2 { result[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces) }
        }
        body = String(text[end.upperBound...])
    }

    var json: [String: Any] {
        get throws { try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:] }
    }

    func objects(_ name: String) throws -> [[String: Any]] {
        try json[name] as? [[String: Any]] ?? []
    }
}

extension [String: String] {
    static func message(
        to recipient: String = "+14155550123",
        body: String = "482913 is your Acme code."
    ) -> [String: String] {
        ["To": recipient, "From": "Acme", "Body": body]
    }
}

/// Runs a sandbox during the body, on a free port unless one is given.
func withSandbox(
    _ configuration: SandboxConfiguration = SandboxConfiguration(),
    on port: Int = 0,
    _ body: (Client) async throws -> Void
) async throws {
    var configuration = configuration
    configuration.port = port
    let sandbox = Sandbox(configuration: configuration)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await sandbox.run() }
        let (_, port) = try await sandbox.waitUntilListening()
        try await body(Client(sandbox: sandbox, port: port))
        group.cancelAll()
        try await group.waitForAll()
    }
}

/// Provides a path in a directory that is deleted after the body.
func withTemporaryFile(_ body: (String) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("sandbox-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(directory.appendingPathComponent("record.jsonl").path)
}

/// The objects of a file of JSON lines.
func recordedLines(_ path: String) throws -> [[String: Any]] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
    }
}
