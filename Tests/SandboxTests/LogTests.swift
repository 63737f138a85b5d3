// SPDX-License-Identifier: Apache-2.0

import Logging
import TestSupport
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct LogTests {
    @Test
    func `no log line shows a number, an address, a token, a code or a secret`() async throws {
        let log = LogRecord(level: .trace)
        let sandbox = Sandbox(configuration: SandboxConfiguration(port: 0), logger: log.logger)
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
        let text = log.texts.joined(separator: "\n")
        #expect(!text.isEmpty)
        for secret in ["4155550123", "482913", "person@", "0a0a", "s3cret", "abc123456def"] {
            #expect(!text.contains(secret), "\(text)")
        }
    }
}
