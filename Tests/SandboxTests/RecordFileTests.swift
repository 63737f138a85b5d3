// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct RecordFileTests {
    @Test
    func `each answered request is in the file, with its connection`() async throws {
        try await withTemporaryFile { path in
            try await withSandbox(SandboxConfiguration(recordFile: path)) { client in
                let connection = try client.begin(.message(body: "Line one\nline \"two\" 123456"))
                let answer = try Answer(await connection.read().text)
                let line = try #require(try recordedLines(path).first)
                #expect(line["to"] as? String == "+14155550123")
                #expect(line["from"] as? String == "Acme")
                #expect(line["body"] as? String == "Line one\nline \"two\" 123456")
                #expect(line["remotePort"] as? Int == connection.port)
                #expect(line["sid"] as? String == (try answer.json["sid"] as? String))
                #expect(line["outcome"] as? String == "accepted")
                #expect(line["accepted"] as? Bool == true)
                #expect((line["time"] as? String)?.hasSuffix("Z") == true)
            }
        }
    }

    @Test
    func `refusals are recorded as refusals`() async throws {
        try await withTemporaryFile { path in
            try await withSandbox(SandboxConfiguration(recordFile: path)) { client in
                client.sandbox.add(.error(code: 21610))
                client.sandbox.add(.status(500, code: nil, retryAfter: nil))
                for recipient in ["+14155550123", "+14155550123", "nobody"] {
                    _ = try await client.send(.message(to: recipient))
                }
                let lines = try recordedLines(path)
                #expect(lines.map { $0["outcome"] as? String } == ["error_21610", "status_500", "refused_21211"])
                #expect(lines.allSatisfy { $0["accepted"] as? Bool == false && $0["sid"] == nil })
            }
        }
    }

    @Test
    func `an incomplete body is not recorded`() async throws {
        try await withTemporaryFile { path in
            try await withSandbox(SandboxConfiguration(recordFile: path)) { client in
                let connection = try RawConnection(to: client.port)
                let whole = client.bytes("POST", Client.messages, body: Client.form(.message()))
                try connection.send(String(whole.dropLast(1)))
                connection.hangUp()
                // A later request on another connection shows that the server still runs.
                _ = try await client.send(.message(to: "+14155550999"))
                #expect(try recordedLines(path).compactMap { $0["to"] as? String } == ["+14155550999"])
                #expect(await client.sandbox.messages().count == 1)
            }
        }
    }

    @Test
    func `many requests at once each have one line before their answer`() async throws {
        try await withTemporaryFile { path in
            try await withSandbox(SandboxConfiguration(recordFile: path)) { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<40 {
                        group.addTask {
                            let answer = try await client.send(.message(to: "+141555501\(10 + number)"))
                            let sid = try #require(try answer.json["sid"] as? String)
                            let text = try String(contentsOfFile: path, encoding: .utf8)
                            #expect(text.contains(sid))
                        }
                    }
                    try await group.waitForAll()
                }
                let sids = try recordedLines(path).compactMap { $0["sid"] as? String }
                #expect(Set(sids).count == 40)
                #expect(sids.count == 40)
            }
        }
    }

    @Test
    func `lines are written in the order of their appends`() async throws {
        try await withTemporaryFile { path in
            let file = try RecordFile(path: path)
            for number in 0..<100 { try await file.append("\(number)".utf8) }
            file.close()
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text == (0..<100).map { "\($0)\n" }.joined())
        }
    }

    @Test
    func `a file that cannot be opened stops the start, one that cannot be written refuses the message`() async throws {
        let sandbox = Sandbox(configuration: SandboxConfiguration(port: 0, recordFile: "/nowhere/record.jsonl"))
        await #expect(throws: SandboxError.recordFile(ENOENT)) { try await sandbox.run() }
        await #expect(throws: SandboxError.recordFile(ENOENT)) { try await sandbox.waitUntilListening() }
        try await withSandbox(SandboxConfiguration(recordFile: "/dev/full")) { client async throws in
            #expect(try await client.send(.message()).status == 500)
            #expect(await client.sandbox.messages().isEmpty)
        }
    }
}
