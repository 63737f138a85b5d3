// SPDX-License-Identifier: Apache-2.0

import Administration
import PostgresClient
import TestSupport
import TestTools
import Testing

/// Checks that an unsuitable server or database is reported before anything is written.
@Suite struct ServerCheckTests {
    @Test func `a UTF8 database of a writable server fits`() async throws {
        try await LedgerDatabase.empty { database in
            try await ServerCheck.run(PostgresConfiguration(url: database.url))
        }
    }

    @Test(arguments: [("LATIN1", "LATIN1"), ("SQL_ASCII", "SQL_ASCII"), ("EUC_JP", "EUC_JP")])
    func `a database of another encoding is refused, with the way to make a right one`(
        encoding: String,
        named name: String
    ) async throws {
        try await LedgerDatabase.empty(encoding: encoding) { database in
            let unfit = await refusal(of: PostgresConfiguration(url: database.url))
            #expect(unfit == .encoding(name))
            #expect(unfit?.description.contains("ENCODING 'UTF8' TEMPLATE template0") == true)
        }
    }

    @Test func `a database that takes no writes is refused, and the setting named`() async throws {
        try await LedgerDatabase.empty { database in
            try await database.script(
                "ALTER DATABASE \(DatabaseURL(database.url).name) SET default_transaction_read_only = on"
            )
            let configuration = PostgresConfiguration(url: database.url)
            #expect(await refusal(of: configuration) == .readOnly(source: "database"))
            let words = ServerCheck.Unfit.readOnly(source: "database").description
            #expect(words.contains("default_transaction_read_only is on (source: database)"))
        }
    }

    @Test func `an old server is refused for its age first, a standby for being one`() {
        let facts = ServerFacts(version: 130_014, encoding: "LATIN1", isStandby: true)
        #expect(facts.unfitness == .tooOld(version: 130_014))
        let old = ServerCheck.Unfit.tooOld(version: 130_014).description
        #expect(old == "the server is PostgreSQL 13, which is too old: use PostgreSQL 14 or newer")
        for version: Int32 in [140_000, 150_004, 180_000] {
            #expect(ServerFacts(version: version, encoding: "UTF8").unfitness == nil)
        }
        // A standby is also read-only, but reporting it as a standby is more helpful.
        let standby = ServerFacts(version: 170_000, encoding: "UTF8", isStandby: true, readOnlySource: "default")
        #expect(standby.unfitness == .standby)
        #expect(ServerCheck.Unfit.standby.description.contains("target_session_attrs=read-write"))
    }

    private func refusal(of configuration: PostgresConfiguration) async -> ServerCheck.Unfit? {
        await #expect(throws: ServerCheck.Unfit.self) { try await ServerCheck.run(configuration) }
    }
}
