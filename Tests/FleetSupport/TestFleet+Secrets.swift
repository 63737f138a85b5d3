// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import Synchronization
import TestSupport
import Testing

/// The volume and the result of a search for secrets.
package struct SecretSearch: Sendable {
    package var bytes = 0
    package var shown: [String] = []
}

extension TestFleet {
    /// Stops the workers, and checks all their events, logs and tables.
    func finish() async throws {
        for worker in workers where worker.program.isRunning { try await worker.stop() }
        var schema = try DeliverySchema()
        for event in try await allEvents(after: .milliseconds(200)) {
            let violations = try schema.violations(of: event.record.value ?? [])
            #expect(violations.isEmpty, "\(event.body)")
        }
        for worker in workers {
            #expect(worker.program.lines.compactMap { CatalogueCheck.flaw(in: $0) } == [])
        }
        #expect(try await searchForSecrets().shown == [])
    }

    /// Searches all output for numbers, codes and secrets.
    ///
    /// This covers logs, error output, events, the headers that dead letters add, the tables, and the log of a private
    /// database server.
    package func searchForSecrets() async throws -> SecretSearch {
        let secrets = Secrets(
            numbers: state.withLock(\.numbers),
            codes: Set(sent.map(\.code)),
            others: [logins.password, "test-token"] + TestKeys.all
        )
        var search = SecretSearch()
        func look(_ bytes: some Collection<UInt8>) {
            search.bytes += bytes.count
            search.shown += secrets.shown(in: bytes)
        }
        for program in state.withLock(\.programs) {
            search.bytes += program.output.utf8.count
            search.shown += secrets.shown(inLog: program.output)
            look(program.errors.utf8)
        }
        for record in try await deliveries.drain(for: .zero).map(\.record) {
            look(record.key ?? [])
            look(record.value ?? [])
            for header in record.headers { look(header.value ?? []) }
        }
        for record in try await deadLetterLog.drain(for: .zero) {
            for header in record.headers where header.name.hasPrefix("dead-letter-") { look(header.value ?? []) }
        }
        look((PrivatePostgres.current?.log ?? "").utf8)
        for table in try await tables() {
            search.bytes += table.utf8.count
            search.shown += secrets.shown(inTable: table)
        }
        return search
    }

    /// The rows of each table of the product as one text, at most half a million per table.
    private func tables() async throws -> [String] {
        try await database.texts(
            """
            SELECT query_to_xml(format('SELECT t::text FROM %I.%I t LIMIT 500000', n.nspname, c.relname), true, true, '')::text
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'courier' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            """
        ).compactMap { $0 }
    }
}
