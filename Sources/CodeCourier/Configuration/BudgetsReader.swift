// SPDX-License-Identifier: Apache-2.0

import Foundation
import SettingsReading
import Verification

/// Reads the policy's prices: one currency, and the price of each provider's messages.
enum PricesReader {
    private static let keys = ["currency", "list"]

    /// Reads the prices of the policy, or of the file that their `path` names.
    static func read(
        _ value: YAMLValue,
        in file: PolicyText.Prices?,
        _ faults: FaultCollector,
        providers: [String: Channel]?
    ) -> PriceTable? {
        guard let mapping = value.mapping(keys: keys + ["path"]) else { return nil }
        guard let path = mapping["path"] else { return table(mapping, providers) }
        if keys.contains(where: { mapping[$0] != nil }) {
            value.fault("has a path beside a currency or a list; keep one, the file has both keys")
        }
        guard path.read(.text(upTo: 4096)) != nil, let file else { return nil }
        switch file.text {
        case .failure(let unreadable):
            path.fault("names a file that \(unreadable.reason)")
            return nil
        case .success(let text):
            let own = FaultCollector(file: file.path)
            let table = YAMLDocument.parse(text, faults: own)?.mapping(keys: keys).flatMap { self.table($0, providers) }
            switch own.result(table) {
            case .success(let table): return table
            case .failure(let found):
                faults.include(found)
                return nil
            }
        }
    }

    private static func table(_ mapping: YAMLMapping, _ providers: [String: Channel]?) -> PriceTable? {
        let currency = mapping.required("currency", such: "USD")?.read(.currency)
        let list = mapping.required("list", such: "[{ provider: main, price: 0.08 }]")
        let prices = list?.list(of: "prices")?.compactMap { price($0, providers) } ?? []
        for (index, price) in prices.enumerated() {
            let isTwice = prices[..<index].contains {
                ($0.provider, $0.region, $0.prefix) == (price.provider, price.region, price.prefix)
            }
            if isTwice { list?.fault("has two prices of \(price.provider) for the same numbers; keep one") }
        }
        return currency.map { PriceTable(currency: $0, prices: prices) }
    }

    private static func price(_ value: YAMLValue, _ providers: [String: Channel]?) -> PriceTable.Price? {
        guard let mapping = value.mapping(keys: ["provider", "region", "prefix", "price", "per"]) else { return nil }
        let name = mapping.required("provider", such: "main")
        let provider = name?.read(.name(upTo: 64))
        let amount = mapping.required("price", such: "0.08")?.read(.price)
        let region = mapping["region"]?.read(.region)
        let prefix = mapping["prefix"]?.read(.numberPrefix(of: 1...14, such: "+9989"))
        let unit = mapping.read("per", .choice, default: PriceTable.Unit.segment)
        if mapping["region"] != nil, mapping["prefix"] != nil {
            value.fault("has a region and a prefix; keep one, the prefix is the narrower")
        }
        if let provider, let providers, providers[provider] != .sms {
            let advice = providers[provider] == nil ? "is no configured provider" : "sends no text messages"
            name?.fault("names \(provider), which \(advice)")
        }
        guard let provider, let amount else { return nil }
        return PriceTable.Price(provider: provider, region: region, prefix: prefix, amount, per: unit)
    }
}

/// Reads the budgets of a tenant.
enum BudgetsReader {
    private static let keys = [
        "name", "amount", "currency", "per", "timeZone", "regions", "channels", "purposes", "warnAt", "reserve", "mode",
    ]

    /// The prices of a policy, and the file and line that state them.
    struct Prices {
        /// Nil without prices, or if they have a fault.
        let table: PriceTable?

        /// The separate file of prices; nil for `prices.list`.
        let file: String?
        let areStated: Bool
    }

    static func read(_ value: YAMLValue, prices: Prices) -> [Budget] {
        let elements = value.list(of: "budgets") ?? []
        if !prices.areStated, !elements.isEmpty {
            let example = "`prices: { currency: USD, list: [{ provider: main, price: 0.08 }] }`"
            value.fault("needs prices; add \(example) beside tenants")
        }
        var budgets: [Budget] = []
        for element in elements {
            guard let budget = budget(element, currency: prices.table?.currency) else { continue }
            if budgets.contains(where: { $0.name == budget.name }) {
                element.fault("is named \(budget.name) again; each budget needs a name of its own")
            }
            budgets.append(budget)
        }
        return budgets
    }

    private static func budget(_ value: YAMLValue, currency: String?) -> Budget? {
        guard let mapping = value.mapping(keys: keys) else { return nil }
        let name = mapping.required("name", such: "all-day")?.read(.name(upTo: 64))
        let amount = mapping.required("amount", such: "500")?.read(.budgetAmount)
        let period: Budget.Period? = mapping.required("per", such: "day")?.read(.choice)
        var budget = Budget(
            name: name ?? "",
            amount: amount ?? .zero,
            currency: currency ?? "",
            period: period ?? .day,
            regions: set(mapping["regions"], "regions", .region),
            channels: set(mapping["channels"], "channels", .choice),
            purposes: set(mapping["purposes"], "purposes", .choice)
        )
        if let own = mapping["currency"], let text = own.read(.currency), let currency, text != currency {
            own.fault("is \(text), but the prices are in \(currency)")
        }
        if let zone = mapping["timeZone"] {
            if let period, period != .month { zone.fault("is for `per: month`: hours and days are sliding") }
            budget.timeZone = zone.read(.timeZone) ?? budget.timeZone
        }
        budget.warnAt = (mapping["warnAt"]?.list(of: "percentages", .integer(in: 1...100)) ?? budget.warnAt).sorted()
        if let reserve = mapping["reserve"]?.mapping(keys: ["confirmed"]) {
            budget.reserve = reserve.required("confirmed", such: "20")?.read(.integer(in: 1...90)) ?? 0
        }
        budget.mode = mapping.read("mode", .choice, default: budget.mode)
        return name == nil || amount == nil || period == nil ? nil : budget
    }

    /// The values of a list that narrows a budget; nil without one.
    private static func set<Element: Hashable>(
        _ value: YAMLValue?,
        _ elements: String,
        _ rule: ValueRule<Element>
    ) -> Set<Element>? {
        guard let value else { return nil }
        if value.isEmptyList { value.fault("names none; leave it out for all") }
        return value.list(of: elements, rule).map { Set($0) }
    }

    /// Reports each route that may lead to a message without a price.
    static func checkPrices(of tenant: TenantPolicy, _ stated: Prices, _ value: YAMLValue?) {
        guard let prices = stated.table, let value, !tenant.budgets.isEmpty else { return }
        var missing: Set<String> = []
        func check(_ route: Route, _ region: Region?) {
            for provider in route.providers where !prices.covers(provider, region) {
                missing.insert("\(provider) to \(region?.code ?? "all regions")")
            }
        }
        for (region, route) in tenant.routes.regions { check(route, region) }
        for region in tenant.routedRegions { check(tenant.routes.fallback, region) }
        if missing.isEmpty { return }
        let list = missing.sorted().joined(separator: ", ")
        let place = stated.file.map { "the list of \($0)" } ?? "prices.list"
        value.fault("need a price of \(list); add to \(place) `{ provider: …, price: … }`")
    }
}

extension TenantPolicy {
    /// The regions whose messages use the default route; nil stands for all other regions.
    fileprivate var routedRegions: [Region?] {
        if routes.fallback.isEmpty { return [] }
        var regions: Set<Region> = []
        for policy in [self.regions] + purposeRegions.values {
            guard case .allowlistOnly(let allowed) = policy.base else { return [nil] }
            regions.formUnion(allowed)
        }
        // Facts show one region for the mobile numbers of several.
        return regions.union(regions.map(\.regionOfItsMobiles)).filter { routes.regions[$0] == nil }.sorted()
    }
}

extension PriceTable {
    /// The prices as texts, such as `main, DE: 0.095 USD a segment`.
    var lines: [String] {
        prices.map { price in
            let numbers = price.prefix ?? price.region?.code ?? "all"
            return "\(price.provider), \(numbers): \(price.amount) \(currency) a \(price.unit.rawValue)"
        }
    }
}

extension Budget {
    /// The budget as text, such as `500.00 USD a day, 20 % for confirmed people`.
    var text: String {
        let scopes = [
            regions.map { "to \($0.sorted().map(\.code).joined(separator: ", "))" },
            channels.map { "by \($0.map(\.rawValue).sorted().joined(separator: ", "))" },
            purposes.map { "for \($0.map(\.rawValue).sorted().joined(separator: ", "))" },
        ]
        let zone = period == .month ? " (\(timeZone))" : ""
        let parts = ["\(amount) \(currency) \(period == .hour ? "an" : "a") \(period.rawValue)\(zone)"]
        let rest = [
            reserve > 0 ? "\(reserve) % for confirmed people" : nil, mode == .record ? "only recorded" : nil,
            warnAt.isEmpty ? nil : "warns at \(warnAt.map { "\($0) %" }.joined(separator: ", "))",
        ]
        return (parts + (scopes + rest).compactMap(\.self)).joined(separator: ", ")
    }
}

extension ValueRule where Value == Money {
    fileprivate static var price: Self {
        Self(requirement: "must be an amount such as 0.0075, at most 1000") { text in
            Money(text).flatMap { $0 <= Money(micros: 1_000_000_000) ? $0 : nil }
        }
    }

    /// At most a billion, so that sums of leases stay far from overflow.
    static var budgetAmount: Self {
        Self(requirement: "must be an amount such as 500 or 99.50, above 0 and at most 1000000000") { text in
            Money(text).flatMap { $0 > .zero && $0 <= Money(micros: 1_000_000_000_000_000) ? $0 : nil }
        }
    }
}

extension ValueRule where Value == String {
    fileprivate static var currency: Self {
        Self(requirement: "must be a currency's three letters, such as USD or EUR") { text in
            text.utf8.count == 3 && text.utf8.allSatisfy { (0x41...0x5a).contains($0) } ? text : nil
        }
    }

    fileprivate static var timeZone: Self {
        Self(requirement: "must be the name of a time zone, such as Europe/Berlin or UTC") { text in
            // PostgreSQL takes these names, and offsets and abbreviations, too, whose sign or summer time surprises.
            let isPlace = text.contains("/") && text.utf8.count <= 64
            return text == "UTC" || isPlace && TimeZone(identifier: text) != nil ? text : nil
        }
    }
}
