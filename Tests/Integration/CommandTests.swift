// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Foundation
import KafkaClient
import TestSupport
import TestTools
import Testing
import Verification

extension CommandLineSuite {
    @Suite struct Commands {
        @Test func `migrate prepares an empty database, and does nothing the second time`() async throws {
            try await LedgerDatabase.empty(connections: 1) { database in
                let folder = try ScratchFolder()
                let login = ["POSTGRES_URL": database.url]
                let plan = try await run(["migrate", "--plan"], folder, login, expecting: 1)
                #expect(plan.lines.first == "-- 0001_schema" && plan.output.contains("CREATE SCHEMA"))
                let ahead = try await run(["migrate", "--status"], folder, login, expecting: 1)
                #expect(ahead.lines.first == "pending  0001_schema")
                let first = try await run(["migrate"], folder, login)
                #expect(first.lines.filter { $0.hasPrefix("applied ") }.count >= 2)
                #expect(first.lines.last == "the database is up to date")
                let status = try await run(["migrate", "--status"], folder, login)
                #expect(status.lines.count >= 2 && status.lines.allSatisfy { $0.hasPrefix("applied  0") })
                let second = try await run(["migrate"], folder, login)
                #expect(second.lines == ["nothing to do: the database is up to date"])
            }
        }

        @Test func `a server's warning at a connection is nobody's line on standard error`() async throws {
            try await LedgerDatabase.empty(connections: 1) { database in
                let name = database.url.split(separator: "/").last?.split(separator: "?").first ?? ""
                // An upgrade of the operating system changes the collation version in the same way.
                try await database.script("UPDATE pg_database SET datcollversion = '0.1' WHERE datname = '\(name)'")
                let program = try await run(["migrate"], try ScratchFolder(), ["POSTGRES_URL": database.url])
                #expect(program.errors.isEmpty)
            }
        }

        @Test func `migrate works where the database's own defaults are others`() async throws {
            try await LedgerDatabase.empty(connections: 1) { database in
                let name = database.url.split(separator: "/").last?.split(separator: "?").first ?? ""
                let defaults = [
                    "statement_timeout = '2s'", "lock_timeout = '1ms'", "jit = on", "jit_above_cost = 0",
                    "jit_optimize_above_cost = 0", "jit_inline_above_cost = 0", "bytea_output = escape",
                    "default_transaction_isolation = serializable", "default_transaction_deferrable = on",
                    "DateStyle = 'German'", "TimeZone = 'Asia/Kathmandu'", "IntervalStyle = sql_standard",
                    "standard_conforming_strings = off", "backslash_quote = on", "transform_null_equals = on",
                    "extra_float_digits = -15", "default_tablespace = ''", "check_function_bodies = off",
                    "search_path = 'nowhere'", "row_security = off", "synchronous_commit = off", "array_nulls = off",
                    "idle_in_transaction_session_timeout = '10s'", "idle_session_timeout = '10s'",
                ]
                for setting in defaults { try await database.script("ALTER DATABASE \(name) SET \(setting)") }
                let program = try await run(["migrate"], try ScratchFolder(), ["POSTGRES_URL": database.url])
                #expect(program.errors.isEmpty && program.lines.last == "the database is up to date")
            }
        }

        @Test func `migrate says in one line that the database cannot be reached`() async throws {
            let url = "postgresql://owner:top-secret-password@127.0.0.1:1/none"
            let program = try await run(["migrate"], try ScratchFolder(), ["POSTGRES_URL": url], expecting: 2)
            #expect(program.errorLines.count == 1)
            #expect(!program.errors.contains("top-secret-password"))
        }

        @Test func `a password on the command line is not among the arguments that ps shows`() async throws {
            try await LedgerDatabase.with(connections: 2) { database in
                let folder = try ScratchFolder()
                let password = DatabaseURL(database.url).withoutPassword.password
                try #require(!password.isEmpty)
                // The migration waits for this lock until the test has inspected it.
                async let holder: Void = database.play(
                    """
                    BEGIN; LOCK TABLE courier.schema_migration IN SHARE ROW EXCLUSIVE MODE; SELECT pg_advisory_xact_lock(1);
                    \(LedgerDatabase.waiting(for: "SELECT FROM pg_class WHERE relname = 'seen'"))
                    """
                )
                try await database.waitForHolders()
                let program = try Program(["migrate", "--postgres-url", database.url], folder: folder)
                let arguments = try await eventually("it is in the database") {
                    let sessions = try await database.count(
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'code-courier%'"
                    )
                    guard sessions > 0 else { return nil as String? }
                    return try String(contentsOfFile: "/proc/\(program.identifier)/cmdline", encoding: .utf8)
                }
                #expect(arguments.contains("postgresql://") && !arguments.contains(password))
                try await database.script("CREATE TABLE public.seen ()")
                try await holder
                _ = try await program.exit()
            }
        }

        @Test func `request send shows the event, verify checks the code, events tail prints the events`()
            async throws
        {
            try await TestFleet.with { fleet in
                _ = try await fleet.startWorker()
                let config = ["--config", fleet.folder[TestFleet.configurationFile]]
                let tail = try Program(["events", "tail", "--from-beginning", "--json"] + config, folder: fleet.folder)
                let number = Numbers.one()
                fleet.watch([number])
                let sending =
                    ["request", "send", "--phone", number, "--request-id", "by-hand", "--wait", "30"] + config
                let request = try await run(sending, fleet.folder)
                #expect(
                    request.lines.first?.hasPrefix("request by-hand is on \(fleet.topics.requests), partition") == true
                )
                #expect(request.lines.dropFirst().first?.contains("sent") == true, "\(request.output)")
                #expect(!request.output.contains(number))

                let event = try await fleet.event(of: TestRequest(id: "by-hand", phoneNumber: number))
                let code = try #require(fleet.messages[number]?.first?.code)
                try await verify(code, event, config, fleet)
                try await follow(tail, event)
                try await find(event, number, config, fleet)
                try await show(event, number, config, fleet)
                try await showSuppressed(config, fleet)
            }
        }

        /// Finds the event in the past of its topic, by each condition of `events tail`.
        private func find(_ event: Event, _ number: String, _ config: [String], _ fleet: TestFleet) async throws {
            let past = ["events", "tail", "--from-beginning", "--until-now"] + config
            for condition in [["--request-id", "by-hand"], ["--phone", number], ["--status", "sent"]] {
                let found = try await run(past + condition, fleet.folder)
                #expect(found.lines.count == 1, "\(condition[0])")
                #expect(!found.output.contains(number))
            }
            let none = try await run(past + ["--request-id", "by-hand", "--status", "failed"], fleet.folder)
            #expect(none.lines.isEmpty)
        }

        private func show(_ event: Event, _ number: String, _ config: [String], _ fleet: TestFleet) async throws {
            let verification = try #require(event.body.verificationId)
            let login = ["POSTGRES_URL": fleet.logins.operatorURL]
            for subject in [verification, "by-hand", number] {
                let story = try await run(["show", subject] + config, fleet.folder, login)
                #expect(story.lines.contains("verification \(verification)"))
                #expect(story.lines.last == "next: nothing: the code was right.")
                #expect(!story.output.contains(number))
                let json = try await run(["show", subject, "--json"] + config, fleet.folder, login)
                #expect(json.output.contains(#""verificationId":"\#(verification)""#) && !json.output.contains(number))
            }
            let nobody = try await run(["show", "by-foot"] + config, fleet.folder, login, expecting: 1)
            #expect(nobody.lines.first == "no verification and no request with this id")
            let verifier = ["POSTGRES_URL": fleet.logins.verifierURL]
            let refused = try await run(["show", "by-hand"] + config, fleet.folder, verifier, expecting: 2)
            #expect(refused.errors.contains("GRANT courier_operator TO it"))
        }

        /// A request that was suppressed is told under its own id, with the request whose message counts.
        private func showSuppressed(_ config: [String], _ fleet: TestFleet) async throws {
            let number = Numbers.one()
            for (id, answer) in [("first", Answer("sent")), ("second", Answer("suppressed", "resend_window"))] {
                try await fleet.send(TestRequest(id: id, phoneNumber: number))
                #expect(try await fleet.events(of: [id]).first?.answer == answer)
            }
            let login = ["POSTGRES_URL": fleet.logins.operatorURL]
            let story = try await run(["show", "second"] + config, fleet.folder, login)
            let words = story.lines.prefix(3).map { $0.split(separator: " ").joined(separator: " ") }
            #expect(words.prefix(2) == ["request", "answer suppressed / resend_window"])
            #expect(words.last == "message none of its own: the code of request first is good for it")
            #expect(story.lines.contains { $0.hasPrefix("verification ") })
            let json = try await run(["show", "second", "--json"] + config, fleet.folder, login)
            #expect(json.output.contains(#""status":"suppressed","reason":"resend_window""#))
            let first = try await run(["show", "first"] + config, fleet.folder, login)
            #expect(!first.output.contains("suppressed"))
        }

        private func verify(_ code: String, _ event: Event, _ config: [String], _ fleet: TestFleet) async throws {
            let verification = try #require(event.body.verificationId)
            let checking = ["verify", "--verification", verification] + config
            let login = ["POSTGRES_URL": fleet.logins.verifierURL]
            for slip in ["", "12345O", "\(code) \(code)", "\(code.dropLast())"] {
                let check = checking + ["--digits", "6", "--code", slip]
                let typo = try await run(check, fleet.folder, login, expecting: 1)
                #expect(typo.lines == ["not_a_code"], "\(slip.utf8.count) bytes")
            }
            let wrong = try await run(
                checking + ["--code", code == "000000" ? "000001" : "000000"],
                fleet.folder,
                login,
                expecting: 1
            )
            #expect(wrong.lines == ["incorrect, 4 guesses left"])
            let typed = "Code: \(code.prefix(3))–\(code.suffix(3))."
            let right = try await run(checking + ["--code", typed], fleet.folder, login)
            #expect(right.lines == ["approved"])
            let again = try await run(checking + ["--code", code], fleet.folder, login, expecting: 1)
            #expect(again.lines == ["already_approved"])
        }

        private func follow(_ tail: Program, _ event: Event) async throws {
            let line = String(decoding: event.record.value ?? [], as: UTF8.self)
            try await eventually("the event is printed") { tail.lines == [line] }
            tail.send(SIGINT)
            #expect(try await tail.exit(within: .seconds(10)) == .code(0))
            #expect(tail.errors.isEmpty)
            #expect(tail.lines == [line])
        }

        @Test(
            arguments: [
                "", "run", "migrate", "request", "request send", "verify", "events", "events tail",
                "message preview", "erase", "show", "brake", "brake list", "brake explain", "dead-letters",
                "dead-letters list", "dead-letters redrive",
            ]
        )
        func `every command explains itself`(_ command: String) async throws {
            let words = command.split(separator: " ").map(String.init)
            let program = try await run(words + ["--help"], try ScratchFolder())
            #expect(program.output.contains("USAGE: code-courier\(command.isEmpty ? "" : " ")\(command)"))
            #expect(program.output.contains("OVERVIEW: "))
            #expect(program.errors.isEmpty)
        }

        /// Runs the program to its end, and expects an exit code.
        private func run(
            _ arguments: [String],
            _ folder: ScratchFolder,
            _ environment: [String: String] = [:],
            expecting code: Int32 = 0
        ) async throws -> Program {
            let program = try Program(arguments, environment: environment, folder: folder)
            let exit = try await program.exit(within: .seconds(60))
            #expect(exit == .code(code), "\(program.output)\(program.errors)")
            return program
        }
    }
}
