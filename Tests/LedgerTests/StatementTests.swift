// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgresClient
import TestSupport
import TestTools
import Testing

/// Finds every SQL statement in the sources and lets a server with the current tables prepare it.
@Suite struct StatementTests {
    /// A statement of a source file.
    private struct Found: CustomStringConvertible {
        let file: String
        let sql: String

        var description: String { "\(file): \(sql.prefix(60))" }
    }

    @Test func `every statement is a literal without an insertion, and nothing else makes one`() throws {
        var places = 0
        for (file, text) in try Self.sources() {
            places += text.matches(of: try Regex(#"[^A-Za-z]Statement\("#)).count
            #expect(!text.contains("PQexec"), "\(file)")
            // A script has no parameters, so only the migrator's constant texts may run as one.
            if text.contains(".script(") { #expect(file == "Migrator.swift", "\(file)") }
        }
        let found = try Self.statements()
        #expect(found.count > 40)
        #expect(found.count == places)
        for statement in found { #expect(!statement.sql.contains("\\("), "\(statement)") }
    }

    @Test func `every statement is prepared against the migrated tables`() async throws {
        let found = try Self.statements()
        try await LedgerDatabase.with(connections: 1) { database in
            for statement in found where !Self.notPrepared.contains(where: statement.sql.hasPrefix) {
                // The ledger may append this ending to any locking statement.
                let endings = statement.sql.contains(/FOR UPDATE( OF v)?$/) ? ["", " SKIP LOCKED"] : [""]
                for ending in endings {
                    do {
                        try await database.script("PREPARE probe AS \(statement.sql)\(ending); DEALLOCATE probe")
                    } catch {
                        Issue.record("\(statement)\(ending): \(error)")
                    }
                }
            }
        }
    }

    private static let notPrepared = ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "SET LOCAL"]

    /// The sources of the targets that may contain a `Statement`.
    private static func sources() throws -> [(file: String, text: String)] {
        let folder = Repository.file("Sources")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var sources: [(file: String, text: String)] = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            if text.contains("import PostgresClient") || file.path.contains("/PostgresClient/") {
                sources.append((file.lastPathComponent, text))
            }
        }
        return sources
    }

    /// The literals that follow `Statement(`.
    private static func statements() throws -> [Found] {
        let literal = try Regex<(Substring, Substring?, Substring?)>(
            #"[^A-Za-z]Statement\(\s*(?:"""\n(.*?)\n\s*"""|"([^"\n]*)")"#
        ).dotMatchesNewlines()
        return try sources().flatMap { file, text in
            text.matches(of: literal).compactMap { match in
                (match.output.1 ?? match.output.2).map { Found(file: file, sql: String($0)) }
            }
        }
    }
}
