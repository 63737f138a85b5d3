// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import PostgresClient
import TestSupport
import TestTools
import Testing

extension CommandLineSuite {
    /// Tests TLS and SCRAM with a server that requires both.
    @Suite struct PostgresSecurity {
        private static let password = "canary-\(uniqueName("password"))"

        /// The tests' superuser needs no password; every other user needs TLS and a password.
        private static let rules = """
            host    all courier 127.0.0.1/32 trust
            hostssl all all     127.0.0.1/32 scram-sha-256
            """

        @Test func `a certificate that is verified, a password by SCRAM and its channel binding let a login in`()
            async throws
        {
            try await withServer { url, authority, _ in
                let secure = "sslmode=verify-full&sslrootcert=\(authority.certificatePath)"
                for more in ["", "&channel_binding=require", "&ssl_min_protocol_version=TLSv1.3"] {
                    let isEncrypted = try await Self.ask(
                        "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
                        "\(url)?\(secure)\(more)"
                    )
                    #expect(isEncrypted, "\(more)")
                }
            }
        }

        @Test func `what is not as it should be is refused in one line, without the password`() async throws {
            try await withServer { url, authority, folder in
                let stranger = try await TestAuthority(in: folder, name: "stranger")
                let trusting = "sslrootcert=\(authority.certificatePath)"
                let wrong = url.replacing(Self.password, with: "canary-wrong-password")
                let port = url.split(separator: ":").last?.split(separator: "/").first ?? ""
                let other = "hostaddr=127.0.0.1&host=other.example&port=\(port)"
                let refusals = [
                    ("\(url)?sslmode=verify-full&sslrootcert=\(stranger.certificatePath)", "certificate_untrusted: "),
                    ("\(url)?sslmode=verify-full&\(trusting)&\(other)", "host_name_mismatch: "),
                    ("\(url)?sslmode=disable", "no pg_hba.conf entry"),
                    ("\(wrong)?sslmode=verify-full&\(trusting)", "password authentication failed"),
                    ("\(url)?sslmode=verify-full&sslrootcert=/nowhere", "root certificate file"),
                ]
                for (address, reason) in refusals {
                    let program = try Program(["migrate"], environment: ["POSTGRES_URL": address], folder: folder)
                    #expect(try await program.exit() == .code(2), "\(reason)")
                    #expect(program.errorLines.count == 1)
                    #expect(program.errors.contains(reason), "\(program.errors)")
                    for text in [program.errors, program.output] { #expect(!text.contains("canary")) }
                }
            }
        }

        @Test func `a certificate that is over reads differently from one that nobody trusts`() async throws {
            try await withServer(days: -1) { url, authority, folder in
                let address = "\(url)?sslmode=verify-full&sslrootcert=\(authority.certificatePath)"
                let program = try Program(["migrate"], environment: ["POSTGRES_URL": address], folder: folder)
                #expect(try await program.exit() == .code(2))
                #expect(program.errors.contains("certificate_expired: "), "\(program.errors)")
                #expect(!program.errors.contains("canary"))
            }
        }

        @Test func `a password file is read at every connection, so a password changes in a running worker`()
            async throws
        {
            try await withServer { url, authority, folder in
                let (port, name) = try Self.place(of: url)
                func write(_ password: String) throws -> String {
                    let file = try folder.write("127.0.0.1:\(port):*:member:\(password)\n", to: "passfile")
                    try folder.restrict("passfile")
                    return file
                }
                let file = try write(Self.password)
                let secure = "sslmode=verify-full&sslrootcert=\(authority.certificatePath)&passfile=\(file)"
                let pool = PostgresPool(
                    PostgresConfiguration(url: "postgresql://member@127.0.0.1:\(port)/\(name)?\(secure)"),
                    size: 1
                )
                let question = Statement("SELECT pg_backend_pid()")
                let first = try await pool.withSession { try $0.execute(question).onlyRow.int32(0) }

                let owner = PostgresPool(
                    PostgresConfiguration(url: "postgresql://courier@127.0.0.1:\(port)/\(name)"),
                    size: 1
                )
                try await owner.withSession { try $0.script("ALTER ROLE member PASSWORD 'canary-second'") }
                _ = try write("canary-second")
                #expect(try await pool.withSession { try $0.execute(question).onlyRow.int32(0) } == first)
                let end = Statement("SELECT pg_terminate_backend($1)", [.int32(first)])
                try await owner.withSession { _ = try $0.execute(end) }
                try await eventually("the pool connects with the new password") {
                    let second = try? await pool.withSession { try $0.execute(question).onlyRow.int32(0) }
                    return second.map { $0 != first } ?? false
                }
                await pool.close()
                await owner.close()
            }
        }

        private func withServer(
            days: Int = 2,
            _ body: (_ url: String, TestAuthority, ScratchFolder) async throws -> Void
        ) async throws {
            let folder = try ScratchFolder()
            let authority = try await TestAuthority(in: folder, days: days)
            let files = [
                "server.crt": authority.serverCertificate, "server.key": authority.serverKey, "pg_hba.conf": Self.rules,
            ]
            try await PrivatePostgres.with(settings: "ssl = on\npassword_encryption = 'scram-sha-256'", files: files) {
                server in
                let (port, name) = try Self.place(of: server.url)
                let owner = PostgresPool(PostgresConfiguration(url: server.url), size: 1)
                try await owner.withSession {
                    try $0.script("CREATE ROLE member LOGIN PASSWORD '\(Self.password)'")
                }
                await owner.close()
                try await body("postgresql://member:\(Self.password)@127.0.0.1:\(port)/\(name)", authority, folder)
            }
        }

        private static func place(of url: String) throws -> (port: Substring, database: Substring) {
            let place = try #require(url.split(separator: "@").last).split(separator: "/")
            return (try #require(place[0].split(separator: ":").last), try #require(place.last))
        }

        private static func ask(_ question: StaticString, _ url: String) async throws -> Bool {
            let pool = PostgresPool(PostgresConfiguration(url: url), size: 1)
            let statement = Statement(question)
            do {
                let answer = try await pool.withSession { try $0.execute(statement).onlyRow.bool(0) }
                await pool.close()
                return answer
            } catch {
                await pool.close()
                throw error
            }
        }
    }
}
