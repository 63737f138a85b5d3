// SPDX-License-Identifier: Apache-2.0

import SettingsReading
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Faults of prices and budgets")
struct BudgetFaultTests {
    private func faults(_ text: String) -> [String] {
        switch PolicyFile.parse(text, file: "policy.yaml", providers: PolicyFaultTests.providers) {
        case .success: []
        case .failure(let faults): faults.faults.map(\.description)
        }
    }

    /// A line of the example that budgets replace.
    private static let links = "emailLinks: { authorizedDomains: [example.com], validity: 20m }"

    /// Prices and budgets that stand in the example, and the start of the only fault line.
    static let budgets: [(prices: String, budgets: String, fault: String)] = [
        ("", "[{ name: a, amount: 5, per: day }]", "tenants.default.budgets: needs prices; add `prices: { currency"),
        (
            "{ currency: USD, list: [{ provider: main, price: 0.1 }] }", "[{ name: a, amount: 5, per: day }]",
            "tenants.default.budgets: need a price of backup to all regions; add"
        ),
        (
            "{ currency: USD, list: [{ provider: main, price: 0.1 }, { provider: mailer, price: 0 }] }", "[]",
            "prices.list[1].provider: names mailer, which sends no text messages"
        ),
        (
            "{ currency: USD, list: [{ provider: man, price: 0.1 }] }", "[]",
            "prices.list[0].provider: names man, which is no configured provider"
        ),
        (
            "{ currency: usd, list: [{ provider: main, price: 1 }] }", "[]",
            "prices.currency: must be a currency's three letters"
        ),
        (
            "{ currency: USD, list: [{ provider: main, price: 0.0000001 }] }", "[]",
            "prices.list[0].price: must be an amount such as 0.0075"
        ),
        (
            "{ currency: USD, list: [{ provider: main, price: 1 }, { provider: main, price: 2 }] }", "[]",
            "prices.list: has two prices of main for the same numbers"
        ),
        (
            "{ currency: USD, list: [{ provider: main, region: DE, prefix: \"+49\", price: 1 }] }", "[]",
            "prices.list[0]: has a region and a prefix; keep one"
        ),
        (priced, "[{ amount: 5, per: day }]", "tenants.default.budgets[0].name: is required"),
        (priced, "[{ name: a, amount: 0, per: day }]", "tenants.default.budgets[0].amount: must be an amount such as"),
        (priced, "[{ name: a, amount: 5, per: week }]", "tenants.default.budgets[0].per: must be one of"),
        (
            priced, "[{ name: a, amount: 5, per: day, currency: EUR }]",
            "tenants.default.budgets[0].currency: is EUR, but the prices are in USD"
        ),
        (
            priced, "[{ name: a, amount: 5, per: day, timeZone: Europe/Berlin }]",
            "tenants.default.budgets[0].timeZone: is for `per: month`"
        ),
        (
            priced, "[{ name: a, amount: 5, per: month, timeZone: Berlin }]",
            "tenants.default.budgets[0].timeZone: must be the name of a time zone"
        ),
        (
            priced, "[{ name: a, amount: 5, per: month, timeZone: GMT+5 }]",
            "tenants.default.budgets[0].timeZone: must be the name of a time zone"
        ),
        (
            priced, "[{ name: a, amount: 5, per: day, regions: [] }]",
            "tenants.default.budgets[0].regions: names none; leave it out for all"
        ),
        (
            priced, "[{ name: a, amount: 5, per: day, reserve: { confirmed: 95 } }]",
            "tenants.default.budgets[0].reserve.confirmed: must be a whole number from 1 to 90"
        ),
        (
            priced, "[{ name: a, amount: 5, per: day }, { name: a, amount: 6, per: hour }]",
            "tenants.default.budgets[1]: is named a again"
        ),
        (
            priced, "[{ name: a, amount: 5, per: day, warn: [5] }]",
            "tenants.default.budgets[0].warn: is not a known key"
        ),
    ]

    private static let priced =
        "{ currency: USD, list: [{ provider: main, price: 0.1 }, { provider: backup, price: 0.2 }] }"

    @Test(arguments: budgets)
    func `a fault of prices and budgets names its place`(prices: String, budgets: String, fault: String) {
        var text = ExampleFiles.policy.replacing(Self.links, with: "budgets: \(budgets)")
        if !prices.isEmpty { text = text.replacing("tenants:", with: "prices: \(prices)\ntenants:") }
        let faults = faults(text)
        #expect(faults.count == 1 && faults.first?.contains(" \(fault)") == true, "\(faults)")
    }

    /// Files of prices, and the start of the only fault after its file; nil where it is the policy's.
    static let files: [(prices: String?, file: String?, fault: String)] = [
        (nil, nil, "prices.path: names a file that cannot be read: there is no such file"),
        ("currency: USD", "prices.yaml:1", "list: is required"),
        (
            "currency: USD\nlist:\n  - { provider: main, price: 0.1 }\n  - { provider: man, price: 1 }",
            "prices.yaml:4",
            "list[1].provider: names man, which is no configured provider"
        ),
        (
            "currency: USD\nlist: [{ provider: main, price: 0.1 }]\npath: other.yaml", "prices.yaml:3",
            "path: is not a known key"
        ),
        (
            "currency: USD\nlist: [{ provider: main, price: 0.1 }]", nil,
            "tenants.default.budgets: need a price of backup to all regions; add to the list of "
        ),
    ]

    private static func policy(prices: String) -> String {
        ExampleFiles.policy
            .replacing(links, with: "budgets: [{ name: a, amount: 5, per: day }]")
            .replacing("tenants:", with: "prices: \(prices)\ntenants:")
    }

    @Test(arguments: files)
    func `a fault of a file of prices names the file and the line`(prices: String?, file: String?, fault: String) throws
    {
        let folder = try ScratchFolder()
        let path = try folder.write(Self.policy(prices: "{ path: prices.yaml }"), to: "policy.yaml")
        if let prices { _ = try folder.write(prices, to: "prices.yaml") }
        guard case .failure(let faults) = PolicyFile.load(path: path, providers: PolicyFaultTests.providers) else {
            Issue.record("no fault")
            return
        }
        let place = file.map { "\(folder.path)/\($0)" } ?? "\(path):"
        let found = faults.faults.map(\.description)
        #expect(found.count == 1 && found[0].hasPrefix(place) && found[0].contains(" \(fault)"), "\(found)")
    }

    @Test func `a path stands alone`() {
        let found = faults(Self.policy(prices: "{ path: /nowhere/prices.yaml, currency: USD }"))
        #expect(found.count == 2 && found[0].contains("prices: has a path beside a currency or a list"), "\(found)")
    }

    @Test func `prices of a file are those of the policy`() throws {
        let folder = try ScratchFolder()
        let list = "currency: USD\nlist: [{ provider: main, price: 0.1 }, { provider: backup, price: 0.2 }]"
        _ = try folder.write(list, to: "prices.yaml")
        let path = try folder.write(Self.policy(prices: "{ path: prices.yaml }"), to: "policy.yaml")
        let policy = try PolicyFile.load(path: path, providers: PolicyFaultTests.providers).get()
        let text = Self.policy(prices: Self.priced)
        #expect(try policy == PolicyFile.parse(text, file: "x", providers: PolicyFaultTests.providers).get())
    }

    @Test(arguments: ["UTC", "Etc/UTC", "Asia/Kolkata", "Asia/Calcutta", "US/Eastern", "America/Argentina/Salta"])
    func `names of time zones that PostgreSQL knows are taken`(zone: String) {
        let budgets = "budgets: [{ name: a, amount: 5, per: month, timeZone: \(zone) }]"
        let text = ExampleFiles.policy.replacing(Self.links, with: budgets)
            .replacing("tenants:", with: "prices: \(Self.priced)\ntenants:")
        #expect(faults(text) == [])
    }

    @Test func `an allowed region needs a price of the numbers that it shares`() {
        let prices = ["main", "backup"].flatMap { provider in
            ["US", "GB", "DE", "FR", "IN"].map { "{ provider: \(provider), region: \($0), price: 0.1 }" }
        }
        let list = "{ currency: USD, list: [\(prices.joined(separator: ", "))] }"
        let text = Self.policy(prices: list).replacing("US, GB", with: "US, GB, MF")
            .replacing("allowByDefault: { disallowedRegions: [] }", with: "allowlistOnly: { allowedRegions: [US] }")
        let found = faults(text)
        #expect(found.contains { $0.contains("need a price of") && $0.contains("main to GP") }, "\(found)")
    }

    @Test func `prices and budgets are read`() throws {
        let text = ExampleFiles.policy
            .replacing(Self.links, with: "budgets: [{ name: a, amount: 99.5, per: month, timeZone: Europe/Berlin }]")
            .replacing("tenants:", with: "prices: \(Self.priced)\ntenants:")
        let policy = try PolicyFile.parse(text, file: "policy.yaml", providers: PolicyFaultTests.providers).get()
        let budget = try #require(policy.tenants["default"]?.budgets.first)
        #expect(budget.text == "99.50 USD a month (Europe/Berlin), warns at 50 %, 80 %, 95 %")
        #expect(policy.prices?.lines == ["main, all: 0.10 USD a segment", "backup, all: 0.20 USD a segment"])
    }
}
