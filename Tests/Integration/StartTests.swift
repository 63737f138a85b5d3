// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import Foundation
import TestSupport
import TestTools
import Testing
import Verification

extension CommandLineSuite {
    @Suite struct Start {
        @Test func `each fault of a configuration is one line, and the start fails`() async throws {
            let folder = try ScratchFolder()
            try folder.write(TestPolicy.standard, to: "policy.yaml")
            try folder.write(
                """
                kafka: { bootstrapServers: "nowhere:port" }
                postgres: { url: "mysql://host/database" }
                policy: { path: policy.yaml }
                providers: [{ name: main, kind: pigeon }]
                worker: { maxInFlight: 0 }
                """,
                to: "courier.yaml"
            )
            let program = try await run(folder)
            for key in [
                "kafka.bootstrapServers", "postgres.url", "providers[0].kind", "worker.maxInFlight", "keys.code",
                "keys.hash", "keys.fingerprint", "keys.seal",
            ] {
                #expect(program.errorLines.count { $0.contains("\(key):") } == 1, "\(key): \(program.errors)")
            }
            #expect(program.errorLines.allSatisfy { $0.hasPrefix("code-courier: ") })
            #expect(program.errorLines.count == 8)
            #expect(!program.errors.contains("mysql"))
        }

        @Test func `run --check warns of a database elsewhere without sslmode, and is no failure`() async throws {
            let folder = try ScratchFolder()
            let url = "postgresql://worker:top-secret@db.example.com/courier"
            try folder.write(Self.configuration(postgres: url), to: "courier.yaml")
            try folder.write(TestPolicy.standard, to: "policy.yaml")
            let program = try Program(["run", "--config", "courier.yaml", "--check"], folder: folder)
            #expect(try await program.exit() == .code(0), "\(program.errors)")
            #expect(program.errorLines.count == 1)
            #expect(program.errors.hasPrefix("warning: postgres.url names another machine (db.example.com)"))
            #expect(program.errors.contains("sslmode=verify-full") && !program.errors.contains("top-secret"))
        }

        @Test func `a missing configuration file is one line, and the start fails`() async throws {
            let program = try await run(try ScratchFolder())
            #expect(program.errorLines.count >= 1)
            #expect(program.errorLines.first?.contains("courier.yaml") == true)
        }

        @Test func `each fault of a policy is one line, and the start fails`() async throws {
            let folder = try ScratchFolder()
            try folder.write(Self.configuration(postgres: "postgresql://127.0.0.1:1/none"), to: "courier.yaml")
            try folder.write(
                """
                version: "1"
                tenants:
                  default:
                    appName: Acme
                    regions: { allowlistOnly: { allowedRegions: [DE, Atlantis] } }
                    routes: { default: [nobody] }
                """,
                to: "policy.yaml"
            )
            let program = try await run(folder)
            #expect(program.errorLines.count == 2, "\(program.errors)")
            #expect(program.errorLines.contains { $0.contains("policy.yaml:5:") })
            #expect(program.errorLines.contains { $0.contains("policy.yaml:6:") && $0.contains("nobody") })
        }

        @Test func `a database that cannot be reached is one line without the password`() async throws {
            let folder = try ScratchFolder()
            let url = "postgresql://worker:top-secret-password@127.0.0.1:1/none"
            try folder.write(Self.configuration(postgres: url), to: "courier.yaml")
            try folder.write(TestPolicy.standard, to: "policy.yaml")
            let program = try await run(folder)
            #expect(program.errorLines.count == 1, "\(program.errors)")
            #expect(program.errors.hasPrefix("code-courier: postgres.url: "))
            #expect(!program.errors.contains("top-secret-password"))
        }

        @Test func `a worker with a health file waits for a database that is away, and ends in order`() async throws {
            let folder = try ScratchFolder()
            let url = "postgresql://worker:top-secret-password@127.0.0.1:1/none"
            let configuration = Self.configuration(postgres: url)
            let health = folder["health"]
            try folder.write(configuration + "\nworker: { healthPath: \"\(health)\" }\n", to: "courier.yaml")
            try folder.write(TestPolicy.standard, to: "policy.yaml")
            let worker = try Program(["run", "--config", folder["courier.yaml"]], folder: folder)
            try await eventually("the worker says what it waits for") {
                let probe = try Program(["health", "--path", health], folder: folder)
                _ = try await probe.exit()
                return probe.output.contains("waiting for postgres")
            }
            try await eventually("the log says why") { worker.output.contains("postgres.failing") }
            #expect(!worker.output.contains("top-secret-password"))
            worker.send(SIGTERM)
            #expect(try await worker.exit() == .code(0))
            #expect(worker.errors.isEmpty)
        }

        @Test func `a login that is refused ends a worker at once, with a health file, too`() async throws {
            try await LedgerDatabase.with(connections: 1) { database in
                let folder = try ScratchFolder()
                let url = database.url.replacing("://courier", with: "://nobody_at_all")
                let configuration =
                    Self.configuration(postgres: url) + "\nworker: { healthPath: \"\(folder["health"])\" }\n"
                try folder.write(configuration, to: "courier.yaml")
                try folder.write(TestPolicy.standard, to: "policy.yaml")
                let program = try await run(folder)
                #expect(program.errorLines.count == 1, "\(program.errors)")
            }
        }

        @Test func `a database that is not migrated is one line that says what to do`() async throws {
            try await LedgerDatabase.empty(connections: 1) { database in
                let folder = try ScratchFolder()
                try folder.write(Self.configuration(postgres: database.url), to: "courier.yaml")
                try folder.write(TestPolicy.standard, to: "policy.yaml")
                let program = try await run(folder)
                #expect(program.errorLines.count == 1, "\(program.errors)")
                #expect(program.errors.contains("migrate"))
            }
        }

        /// Runs a worker and a migration that both fail because of the database, each with one line of output.
        private func refused(_ database: LedgerDatabase) async throws -> [Program] {
            let folder = try ScratchFolder()
            try folder.write(Self.configuration(postgres: database.url), to: "courier.yaml")
            try folder.write(TestPolicy.standard, to: "policy.yaml")
            let worker = try await run(folder)
            let migration = try Program(["migrate"], environment: ["POSTGRES_URL": database.url], folder: folder)
            #expect(try await migration.exit() == .code(2))
            for program in [worker, migration] { #expect(program.errorLines.count == 1, "\(program.errors)") }
            return [worker, migration]
        }

        @Test func `tables of a version before the first release are one line for a worker and for a migration`()
            async throws
        {
            try await LedgerDatabase.empty(connections: 1) { database in
                try await database.migrateByEarlierNumbers(22)
                for program in try await refused(database) {
                    #expect(program.errors.contains("before the first release"), "\(program.errors)")
                    #expect(program.errors.contains("DROP SCHEMA courier CASCADE"), "\(program.errors)")
                }
            }
        }

        @Test func `a database that cannot hold a ledger is one line for a worker and for a migration`() async throws {
            try await LedgerDatabase.empty(connections: 1, encoding: "LATIN1") { database in
                for program in try await refused(database) {
                    #expect(program.errors.hasPrefix("code-courier: postgres.url: "))
                    #expect(program.errors.contains("encoding is LATIN1"), "\(program.errors)")
                }
                #expect(try await database.text("SELECT to_regnamespace('courier')::text") == nil)
            }
        }

        @Test func `a worker with another key than the fleet's is one line that names it, and the start fails`()
            async throws
        {
            try await LedgerDatabase.with(connections: 1) { database in
                try await KeyCheck(database.pool).register(CodeKeys.test.checkValues)
                let folder = try ScratchFolder()
                try folder.write(TestPolicy.standard, to: "policy.yaml")
                let configuration = Self.configuration(postgres: database.url)
                let other = "1:" + Data(repeating: 99, count: 32).base64EncodedString()
                for (ring, own) in [
                    ("code", TestKeys.code), ("hash", TestKeys.hash), ("fingerprint", TestKeys.fingerprint),
                    ("seal", TestKeys.seal),
                ] {
                    try folder.write(configuration.replacing(own, with: other), to: "courier.yaml")
                    let program = try await run(folder)
                    #expect(program.errorLines.count == 1, "\(program.errors)")
                    #expect(program.errors.hasPrefix("code-courier: keys.\(ring): key 1 is not"), "\(program.errors)")
                }
                #expect(try await database.count("SELECT count(*) FROM courier.key_check") == 4)
            }
        }

        @Test func `a start without a key that live rows need is refused until they have ended`() async throws {
            try await LedgerDatabase.with(connections: 1) { database in
                try await KeyCheck(database.pool).register(CodeKeys.test.checkValues)
                try await database.script(
                    """
                    INSERT INTO courier.verification (
                        id, generation, seal_key, code_key, hash_key, max_checks, max_sends, request_id, tenant, purpose,
                        channel, fingerprint, masked, policy_version, state, code_hash, resend_after, expires_at, sequence,
                        sends_used, send_open
                    )
                    SELECT courier.uuid_floor(now()), 1, 1, 1, 1, 5, 5, 'r', 'default', 'sign_in', 'sms', '', '', '1',
                        'live', '', now(), now() + interval '10 minutes', 1, 1, false
                    """
                )
                let folder = try ScratchFolder()
                try folder.write(TestPolicy.standard, to: "policy.yaml")
                let new = "2:" + Data(repeating: 99, count: 32).base64EncodedString()
                let configuration = Self.configuration(postgres: database.url)
                try folder.write(configuration.replacing(TestKeys.hash, with: new), to: "courier.yaml")
                let worker = try await run(folder)
                #expect(worker.errorLines.count == 1, "\(worker.errors)")
                #expect(
                    worker.errors.hasPrefix("code-courier: keys.hash: key 1 is missing, and 1 live row needs it until"),
                    "\(worker.errors)"
                )
                // Nothing of a worker that may not start is registered.
                #expect(try await database.count("SELECT count(*) FROM courier.key_check") == 4)

                let check = ["run", "--config", "courier.yaml", "--check"]
                let offline = try Program(check, folder: folder)
                #expect(try await offline.exit() == .code(0), "\(offline.errors)")
                let refused = try Program(check + ["--connect"], folder: folder)
                #expect(try await refused.exit() == .code(2))
                #expect(refused.errorLines.contains { $0.contains("keys.hash: key 1 is missing") }, "\(refused.errors)")
                let status = try Program(["keys", "status", "--config", "courier.yaml"], folder: folder)
                #expect(try await status.exit() == .code(1), "\(status.errors)")
                #expect(status.output.contains("MISSING"), "\(status.output)")

                let both = configuration.replacing(TestKeys.hash, with: "\(new),\(TestKeys.hash)")
                try folder.write(both, to: "courier.yaml")
                let kept = try Program(check + ["--connect"], folder: folder)
                #expect(try await kept.exit() == .code(0), "\(kept.errors)")
                let retire = ["keys", "retire", "hash", "1", "--config", "courier.yaml"]
                let early = try Program(retire, folder: folder)
                #expect(try await early.exit() == .code(1))
                #expect(early.errors.contains("1 live row needs it; try again at"), "\(early.errors)")

                try await database.script("UPDATE courier.verification SET expires_at = now()")
                let late = try Program(retire, folder: folder)
                #expect(try await late.exit() == .code(0), "\(late.errors)")
                #expect(late.output.contains("may go"))
                try folder.write(configuration.replacing(TestKeys.hash, with: new), to: "courier.yaml")
                let ended = try Program(check + ["--connect"], folder: folder)
                #expect(try await ended.exit() == .code(0), "\(ended.errors)")
            }
        }

        /// Runs a worker that fails at its start, and returns it after its exit with code 2.
        private func run(_ folder: ScratchFolder) async throws -> Program {
            let program = try Program(["run", "--config", folder["courier.yaml"]], folder: folder)
            let exit = try await program.exit(within: .seconds(20))
            #expect(exit == .code(2), "\(program.errors)")
            #expect(program.output.isEmpty)
            return program
        }

        private static func configuration(postgres url: String) -> String {
            """
            kafka: { bootstrapServers: "127.0.0.1:1" }
            postgres: { url: "\(url)" }
            policy: { path: policy.yaml }
            providers: [{ name: main, kind: log }]
            keys:
              code: "\(TestKeys.code)"
              hash: "\(TestKeys.hash)"
              fingerprint: "\(TestKeys.fingerprint)"
              seal: "\(TestKeys.seal)"
            """
        }
    }
}

extension Scenarios {
    @Suite struct Reload {
        @Test func `SIGHUP takes a new policy, and a faulty one leaves the old in force`() async throws {
            try await TestFleet.with { fleet in
                let worker = try await fleet.startWorker()
                let before = TestRequest(phoneNumber: Numbers.one("FR"))
                try await fleet.send(before)
                #expect(try await fleet.event(of: before).answer == Answer("rejected", "region_not_allowed"))

                let policy = TestPolicy.policy(version: "test.2", regions: "FR, IN")
                try fleet.folder.write(policy, to: TestFleet.policyFile)
                worker.program.send(SIGHUP)
                try await worker.waitForLog("policy.reloaded")
                try await expectAnswers(fleet)

                let faulty = TestPolicy.policy(version: "test.3", regions: "DE, IN, Atlantis")
                try fleet.folder.write(faulty, to: TestFleet.policyFile)
                worker.program.send(SIGHUP)
                try await worker.waitForLog("policy.refused")
                let fault = worker.entries.last { $0.event == "policy.refused" }?.fault
                #expect(fault?.contains("allowedRegions") == true, "\(fault ?? "")")
                try await expectAnswers(fleet)
            }
        }

        private func expectAnswers(_ fleet: TestFleet) async throws {
            let french = TestRequest(phoneNumber: Numbers.one("FR"))
            let german = TestRequest(phoneNumber: Numbers.one("DE"))
            try await fleet.send(french, german)
            let allowed = try await fleet.event(of: french)
            #expect(allowed.answer == Answer("sent"))
            #expect(allowed.body.policyVersion == "test.2")
            #expect(try await fleet.event(of: german).answer == Answer("rejected", "region_not_allowed"))
        }
    }
}
