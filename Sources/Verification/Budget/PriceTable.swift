// SPDX-License-Identifier: Apache-2.0

import Formats

/// An amount of money in millionths of a currency's unit.
package struct Money: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var micros: Int64

    package init(micros: Int64) {
        self.micros = micros
    }

    package static let zero = Money(micros: 0)

    /// An amount as text: digits, and up to six behind a point; nil for anything else or more than a trillion.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, (1...12).contains(whole.utf8.count), whole.utf8.allSatisfy(\.isASCIIDigit),
            var micros = Int64(whole)
        else { return nil }
        micros *= 1_000_000
        if parts.count == 2 {
            let digits = parts[1]
            guard (1...6).contains(digits.utf8.count), digits.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
            micros += Int64(digits + String(repeating: "0", count: 6 - digits.utf8.count)) ?? 0
        }
        self.micros = micros
    }

    /// The amount with two digits behind the point, and with more if they are not 0, such as `0.0075`.
    package var description: String {
        let (whole, rest) = micros.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        var digits = String(rest)
        digits = String(repeating: "0", count: 6 - digits.utf8.count) + digits
        while digits.utf8.count > 2, digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
        return "\(micros < 0 ? "-" : "")\(whole).\(digits)"
    }

    package static func < (left: Money, right: Money) -> Bool { left.micros < right.micros }

    package static func + (left: Money, right: Money) -> Money {
        Money(micros: left.micros.addingReportingOverflow(right.micros).partialValue)
    }

    package static func - (left: Money, right: Money) -> Money {
        Money(micros: left.micros.subtractingReportingOverflow(right.micros).partialValue)
    }

    package static func += (left: inout Money, right: Money) { left = left + right }
    package static func -= (left: inout Money, right: Money) { left = left - right }

    /// A whole percentage of the amount, rounded down.
    package func percent(_ percent: Int) -> Money {
        let (hundreds, rest) = micros.quotientAndRemainder(dividingBy: 100)
        return Money(micros: hundreds * Int64(percent) + rest * Int64(percent) / 100)
    }
}

/// The price of a message that left.
package struct Cost: Sendable, Equatable {
    package let amount: Money

    /// The currency's code in ISO 4217.
    package let currency: String

    package init(_ amount: Money, _ currency: String) {
        self.amount = amount
        self.currency = currency
    }
}

/// The operator's prices of text messages, in one currency.
package struct PriceTable: Sendable, Equatable {
    package enum Unit: String, Sendable, CaseIterable {
        case message, segment
    }

    /// A provider's price for a number prefix, a region, or all other numbers.
    package struct Price: Sendable, Equatable {
        package let provider: String
        package let region: Region?

        /// A `+` and the first digits of the numbers.
        package let prefix: String?
        package let amount: Money
        package let unit: Unit

        package init(provider: String, region: Region? = nil, prefix: String? = nil, _ amount: Money, per unit: Unit) {
            self.provider = provider
            self.region = region
            self.prefix = prefix
            self.amount = amount
            self.unit = unit
        }
    }

    package let currency: String
    package let prices: [Price]

    /// Each provider's prices: prefixes from the longest to the shortest, then regions, then the rest.
    ///
    /// Regions whose mobile numbers nothing distinguishes are one: the dearest of their prices counts for all.
    private let byProvider: [String: [Price]]

    package init(currency: String, prices: [Price]) {
        self.currency = currency
        self.prices = prices
        byProvider = Dictionary(grouping: prices.map(\.ofMobiles), by: \.provider).mapValues { prices in
            prices.sorted { $0.rank > $1.rank }
        }
    }

    /// The cost of a text of so many segments; nil if the table has no price.
    package func cost(_ provider: String, _ number: PhoneNumber, _ region: Region?, segments: Int) -> Money? {
        let region = (region ?? .unknown).regionOfItsMobiles
        return cost(provider, segments) { price in
            price.prefix.map { number.e164.hasPrefix($0) } ?? price.region.map { $0 == region } ?? true
        }
    }

    /// The cost of a text to a number whose region alone is known: prices of prefixes are not used.
    package func cost(_ provider: String, _ region: Region?, segments: Int) -> Money? {
        let region = (region ?? .unknown).regionOfItsMobiles
        return cost(provider, segments) { $0.prefix == nil && ($0.region.map { $0 == region } ?? true) }
    }

    /// The dearest of the prices that hold and are equally narrow.
    private func cost(_ provider: String, _ segments: Int, where holds: (Price) -> Bool) -> Money? {
        guard let prices = byProvider[provider], let first = prices.firstIndex(where: holds) else { return nil }
        let others = prices[first...].prefix { $0.rank == prices[first].rank }
        return others.filter(holds).map { $0.cost(of: segments) }.max()
    }

    /// The price of a message or segment to a region, prices of prefixes left out; nil if the table has none.
    package func amount(_ provider: String, in region: Region?) -> Money? {
        byProvider[provider]?.first { $0.prefix == nil && ($0.region == nil || $0.region == region) }?.amount
    }

    /// True if a provider has a price for every number of a region; nil for the numbers of all regions.
    package func covers(_ provider: String, _ region: Region?) -> Bool {
        let region = region?.regionOfItsMobiles
        return byProvider[provider]?.contains { $0.prefix == nil && ($0.region == nil || $0.region == region) } ?? false
    }
}

extension PriceTable.Price {
    /// The price with the region that facts show for its region's mobile numbers.
    fileprivate var ofMobiles: Self {
        Self(provider: provider, region: region?.regionOfItsMobiles, prefix: prefix, amount, per: unit)
    }

    fileprivate func cost(of segments: Int) -> Money {
        Money(micros: amount.micros * (unit == .segment ? Int64(max(1, segments)) : 1))
    }

    fileprivate var rank: Int { prefix.map { 1 + $0.utf8.count } ?? (region == nil ? 0 : 1) }
}
