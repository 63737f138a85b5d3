// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

/// Checks that values of one shared reference behave like other values.
@Suite struct SharedTests {
    @Test func `a changed copy of a policy leaves the original`() throws {
        let original = try #require(Policy.test().tenants["default"])
        var copy = original
        #expect(copy == original)
        copy.limits.perIP = []
        copy.appName = "Other"
        #expect(copy != original)
        #expect(original.appName == "Acme" && !original.limits.perIP.isEmpty)
        copy.appName = original.appName
        copy.limits = original.limits
        #expect(copy == original)
    }

    @Test func `a changed copy of a verification leaves the original`() throws {
        var tables = DecisionTables()
        _ = tables.intake(.request(id: "1", at: tables.now))
        let original = try #require(tables.verifications.values.first)
        var copy = original
        copy.state = .expired
        copy.waiting.append("2")
        #expect(copy != original)
        #expect(original.state == .live && original.waiting.isEmpty)
    }

    @Test func `a mirror lists the fields`() throws {
        var tables = DecisionTables()
        _ = tables.intake(.request(id: "1", at: tables.now))
        let verification = try #require(tables.verifications.values.first)
        let columns = Mirror(reflecting: verification).children.compactMap(\.label)
        #expect(columns.contains("requestID") && columns.count > 30)
        let rules = try #require(Policy.test().tenants["default"])
        #expect(Mirror(reflecting: rules).children.compactMap(\.label).contains("budgets"))
    }
}
