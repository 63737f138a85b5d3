// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTools
import Testing

/// Tests the SQL of `docs/operators.md` against a database.
@Suite struct RunbookTests {
    @Test func `every statement of the runbook runs on a migrated database`() async throws {
        let page = Repository.file("docs/operators.md")
        let parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```sql\n")
        let blocks = parts.dropFirst().compactMap { $0.components(separatedBy: "```").first }
        #expect(blocks.count >= 6)
        try await LedgerDatabase.with { database in
            for block in blocks {
                await #expect(throws: Never.self, "\(block)") { try await database.script(block) }
            }
        }
    }

    @Test func `every alert has its section`() throws {
        let page = try String(contentsOf: Repository.file("docs/operators.md"), encoding: .utf8)
        let alerts = try String(contentsOf: Repository.file("deploy/alerts/alerts.yaml"), encoding: .utf8)
        let names = alerts.matches(of: /\n  - name: (\w+)\n/).map { String($0.1) }
        #expect(names.count >= 20 && names.contains("RouteDead"))
        for name in names { #expect(page.contains("\n### \(name)\n"), "\(name)") }
    }
}
