// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import Testing

@testable import Sandbox

@Suite
struct LogTests {
    @Test
    func `no log line shows a number, an address, a token, a code or a secret`() async throws {
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { _ in
            Recorder { line in lines.withLock { $0.append(line) } }
        }
        let sandbox = Sandbox(configuration: SandboxConfiguration(port: 0), logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await sandbox.run() }
            let client = Client(sandbox: sandbox, port: try await sandbox.waitUntilListening().port)
            _ = try await client.send(.message())
            _ = try await client.vonage()
            _ = try await client.vonageMessages()
            _ = try await client.generic(["to": 4_155_550_123])
            _ = try await client.generic(key: "k")
            _ = try await client.push()
            _ = try await client.push(to: "device-0a0a")
            try await MailClient(sandbox).send(MailClient.mail(), to: ["person@example.com"])
            _ = try await client.request("POST", "/sandbox/faults", body: #"{"match":{"to":4155550123}}"#)
            _ = try await client.post("/3/device/\(Client.deviceToken)/4155550123", "482913")
            let broken = try RawConnection(to: client.port)
            try broken.send("POST /3/device/\(Client.deviceToken) 482913\r\n\r\n")
            _ = await broken.read()
            group.cancelAll()
            try await group.waitForAll()
        }
        let text = lines.withLock { $0.joined(separator: "\n") }
        #expect(!text.isEmpty)
        for secret in ["4155550123", "482913", "person@", "0a0a", "s3cret", "abc123456def"] {
            #expect(!text.contains(secret), "\(text)")
        }
    }
}

/// Hands on all that a logger says, down to its traces.
private struct Recorder: LogHandler {
    let sink: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ sink: @escaping @Sendable (String) -> Void) {
        self.sink = sink
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        sink("\(event.message) \(metadata) \(event.metadata ?? [:])")
    }
}
