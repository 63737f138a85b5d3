// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Foundation
import FoundationNetworking
import TestSupport
import TestTools
import Testing

extension CommandLineSuite {
    /// Tests the program `code-courier-sandbox`, and that a worker's program contains no part of it.
    @Suite struct SandboxProgram {
        @Test func `the demo tells its story and ends with one line of JSON`() async throws {
            try await LedgerDatabase.with(connections: 1) { database in
                let (url, password) = DatabaseURL(database.url).withoutPassword
                let demo = ["demo", "--once", "--port", "0", "--postgres-url", url.text]
                // The demo must ignore the shell's variables for a real fleet.
                let shell = ["PGPASSWORD": password, "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "WORKER_CELL": "7"]
                let program = try await run(demo, shell)
                #expect(
                    program.lines.last
                        == #"{"demo":"ok","sent":4,"approved":4,"suppressed":1,"rejected":1,"dead_letters":1}"#
                )
                #expect(program.errors.isEmpty)
                #expect(program.lines.filter { $0.count > 80 } == [])

                // The demo's requests look like a real fleet's, so it refuses to run again.
                let again = try await run(demo, ["PGPASSWORD": password], expecting: 2)
                #expect(again.errorLines.count == 1)
                #expect(again.errors.contains("--postgres-url: the database holds requests"), "\(again.errors)")
                #expect(again.output.isEmpty)
            }
        }

        @Test func `a demo that stays ends at Ctrl-C, and its worker with it`() async throws {
            try await LedgerDatabase.with(connections: 1) { database in
                let (url, password) = DatabaseURL(database.url).withoutPassword
                let demo = ["demo", "--port", "0", "--postgres-url", url.text]
                let program = try Program(demo, environment: ["PGPASSWORD": password], folder: try ScratchFolder())
                try await eventually("the story is told", within: .seconds(180)) {
                    program.output.contains("Ctrl-C ends the demo.")
                }
                #expect(try await workers(of: database) > 0)
                #expect(program.lines.filter { $0.count > 80 } == [])
                let page = program.output.firstMatch(of: ##/(http:[0-9.\/:]+)\/#requests/##)
                try await closeTheLoop(try #require(page?.1))
                program.send(SIGINT)
                #expect(try await program.exit(within: .seconds(120)) == .code(0), "\(program.errors)")
                try await eventually("the worker's sessions are gone") { try await workers(of: database) == 0 }
                #expect(program.lines.last?.hasPrefix("Goodbye.") == true)
            }
        }

        /// Requests a code, a link and a push as the page does, and answers each.
        private func closeTheLoop(_ address: Substring) async throws {
            let page = DemoPage(address: String(address))
            let token = String(repeating: "0c", count: 32)
            for to in ["+12025550142", "eve@example.com", token] {
                #expect(try await page.post("requests", ["to": to])["requestId"] != nil, "\(to)")
            }
            let sms = try await page.newest("messages", "to", ["+12025550142"])
            let code = try #require(sms["code"] as? String)
            #expect(try await page.check(sms, "0000000") == "incorrect")
            #expect(try await page.check(sms, code) == "approved")
            #expect(try await page.check(sms, code) == "already_approved")
            let mail = try await page.newest("emails", "to", ["eve@example.com"])
            let link = try #require((mail["links"] as? [String])?.first)
            #expect(try await page.check(mail, link) == "approved")
            let push = try await page.newest("pushes", "token", [token])
            #expect(try await page.check(push, try #require(push["secret"] as? String)) == "approved")
        }

        @Test(arguments: ["", "1. Ada", "He mistypes"])
        func `a demo that is stopped early ends soon, and its worker with it`(line: String) async throws {
            try await LedgerDatabase.with(connections: 1) { database in
                let (url, password) = DatabaseURL(database.url).withoutPassword
                let demo = ["demo", "--port", "0", "--postgres-url", url.text]
                let program = try Program(demo, environment: ["PGPASSWORD": password], folder: try ScratchFolder())
                try await eventually("it has come so far", within: .seconds(180)) {
                    guard line.isEmpty || program.output.contains(line) else { return false }
                    return try await workers(of: database) > 0
                }
                program.send(SIGINT)
                #expect(try await program.exit(within: .seconds(120)) == .code(0), "\(program.errors)")
                try await eventually("the sessions are gone") { try await workers(of: database) == 0 }
            }
        }

        @Test func `the sandbox says where it listens, and ends at Ctrl-C`() async throws {
            let program = try Program(["sandbox", "--port", "0", "--smtp-port", "0"], folder: try ScratchFolder())
            try await eventually("it listens") { program.lines.count == 2 }
            #expect(program.lines[0].hasPrefix("page and HTTP APIs: http://127.0.0.1:"))
            #expect(program.lines[1].hasPrefix("mail server: 127.0.0.1:"))
            let taken = try #require(program.lines[0].split(separator: ":").last)
            let arguments = ["sandbox", "--port", "\(taken)", "--smtp-port", "0"]
            let second = try Program(arguments, folder: try ScratchFolder())
            #expect(try await second.exit() == .code(1))
            #expect(second.errorLines.count == 1)
            #expect(second.errors.contains("Address already in use; choose others by"))
            program.send(SIGINT)
            #expect(try await program.exit() == .code(0))
            #expect(program.errors.isEmpty)
        }

        @Test(arguments: ["demo", "sandbox"])
        func `a command of the other program explains itself`(_ command: String) async throws {
            let program = try await run([command, "--help"])
            #expect(program.output.contains("USAGE: code-courier-sandbox "))
            #expect(program.output.contains("\n  code-courier \(command) --"))
            #expect(program.errors.isEmpty)
        }

        @Test func `a password goes to no demo by its arguments`() async throws {
            let url = "postgresql://me:top-secret@127.0.0.1:1/none"
            let program = try Program(
                ["demo", "--postgres-url", url],
                executable: Program.path(of: "code-courier-sandbox"),
                folder: try ScratchFolder()
            )
            #expect(try await program.exit() == .code(64))
            #expect(program.errors.contains("put it into PGPASSWORD") && !program.errors.contains("top-secret"))
        }

        @Test func `a worker without the other program beside it says what is missing`() async throws {
            let folder = try ScratchFolder()
            let alone = folder["code-courier"]
            try FileManager.default.copyItem(atPath: Program.path(of: "code-courier"), toPath: alone)
            let program = try Program(["demo"], executable: alone, folder: folder)
            #expect(try await program.exit() == .code(2))
            #expect(program.errorLines.count == 1)
            #expect(program.errors.contains("code-courier-sandbox"))
        }

        @Test func `a worker's program has no part of the sandbox in it`() throws {
            // Names in the symbols of a program that contains these parts.
            for name in ["11Hummingbird", "rd_kafka_mock_cluster_new", "7Sandbox"] {
                #expect(try !Self.program("code-courier", contains: name), "\(name)")
            }
            for name in ["11Hummingbird", "rd_kafka_mock_cluster_new", "7Sandbox"] {
                #expect(try Self.program("code-courier-sandbox", contains: name), "\(name)")
            }
        }

        private static func program(_ program: String, contains name: String) throws -> Bool {
            let file = URL(filePath: Program.path(of: program))
            return try Data(contentsOf: file, options: .alwaysMapped).range(of: Data(name.utf8)) != nil
        }

        /// Number of database sessions of workers and commands.
        private func workers(of database: LedgerDatabase) async throws -> Int64 {
            try await database.count(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name LIKE 'code-courier%'
                """
            )
        }

        /// Runs the program to its end, and expects an exit code.
        private func run(
            _ arguments: [String],
            _ environment: [String: String] = [:],
            expecting code: Int32 = 0
        ) async throws -> Program {
            let program = try Program(arguments, environment: environment, folder: try ScratchFolder())
            let exit = try await program.exit(within: .seconds(240))
            #expect(exit == .code(code), "\(program.output)\(program.errors)")
            return program
        }
    }
}

/// The JSON API of a running demonstration.
private struct DemoPage {
    let address: String

    func get(_ path: String) async throws -> [String: Any] {
        try await answer(URLRequest(url: try #require(URL(string: "\(address)/sandbox/\(path)"))))
    }

    func post(_ path: String, _ fields: [String: String]) async throws -> [String: Any] {
        var request = URLRequest(url: try #require(URL(string: "\(address)/sandbox/\(path)")))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "content-type")
        request.httpBody = try JSONSerialization.data(withJSONObject: fields)
        return try await answer(request)
    }

    /// Waits for the newest message, mail or push to a recipient.
    func newest(_ kind: String, _ field: String, _ recipient: [String]) async throws -> [String: Any] {
        try await eventually("one of the \(kind) comes") {
            let all = try await get(kind)[kind] as? [[String: Any]] ?? []
            return all.last { $0[field] as? [String] == recipient || $0[field] as? String == recipient.first }
        }
    }

    /// The verdict on a guess, once the message's event has come.
    func check(_ message: [String: Any], _ guess: String) async throws -> String {
        let sid = try #require(message["sid"] as? String)
        return try await eventually("the verifier answers") {
            try await post("checks", ["message": sid, "guess": guess])["status"] as? String
        }
    }

    private func answer(_ request: URLRequest) async throws -> [String: Any] {
        let (data, _) = try await URLSession.shared.data(for: request)
        return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }
}
