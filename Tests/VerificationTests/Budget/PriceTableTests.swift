// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Verification

@Suite struct PriceTableTests {
    @Test(arguments: [
        ("500", 500_000_000, "500.00"), ("0.0075", 7_500, "0.0075"), ("0", 0, "0.00"), ("99.5", 99_500_000, "99.50"),
        ("0.000001", 1, "0.000001"), ("000001.10", 1_100_000, "1.10"),
    ])
    func `an amount is read and shown`(text: String, micros: Int64, shown: String) throws {
        let money = try #require(Money(text))
        #expect(money.micros == micros && money.description == shown)
    }

    @Test(arguments: ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "0.0000001", "1.2.3", "9999999999999", "٣", "1 "])
    func `anything else is no amount`(text: String) {
        #expect(Money(text) == nil)
    }

    private static let table = PriceTable(
        currency: "USD",
        prices: [
            .init(provider: "main", Money(micros: 50_000), per: .segment),
            .init(provider: "main", region: Region("DE"), Money(micros: 90_000), per: .segment),
            .init(provider: "main", prefix: "+4915", Money(micros: 70_000), per: .segment),
            .init(provider: "main", prefix: "+491512", Money(micros: 310_000), per: .message),
        ]
    )

    @Test(arguments: [
        ("+491512345678", "DE", 2, 310_000), ("+491513345678", "DE", 2, 140_000), ("+491603345678", "DE", 1, 90_000),
        ("+447400123456", "GB", 3, 150_000), ("+447400123456", "GB", 0, 50_000),
    ])
    func `the longest prefix counts, then the region, then the rest`(
        number: String,
        region: String,
        segments: Int,
        micros: Int64
    ) throws {
        let number = try #require(PhoneNumber(number))
        let cost = Self.table.cost("main", number, Region(region), segments: segments)
        #expect(cost == Money(micros: micros))
        #expect(Self.table.cost("backup", number, Region(region), segments: segments) == nil)
    }

    @Test(arguments: ["GP", "MF", "BL"])
    func `regions that no mobile number tells apart have the dearest of their prices`(region: String) throws {
        let table = PriceTable(
            currency: "USD",
            prices: [
                .init(provider: "main", region: Region("GP"), Money(micros: 50_000), per: .segment),
                .init(provider: "main", region: Region("MF"), Money(micros: 300_000), per: .segment),
                .init(provider: "backup", region: Region("BL"), Money(micros: 70_000), per: .message),
            ]
        )
        let number = try #require(PhoneNumber("+590690001234"))
        #expect(table.cost("main", number, Region(region), segments: 1) == Money(micros: 300_000))
        #expect(table.cost("main", Region(region), segments: 2) == Money(micros: 600_000))
        #expect(table.cost("backup", number, Region(region), segments: 2) == Money(micros: 70_000))
        #expect(table.covers("backup", Region(region)) && !table.covers("backup", Region("FR")))
    }

    @Test func `a prefix alone covers no region`() {
        let table = PriceTable(
            currency: "EUR",
            prices: [
                .init(provider: "a", prefix: "+49", Money(micros: 1), per: .segment),
                .init(provider: "b", region: Region("DE"), Money(micros: 1), per: .segment),
            ]
        )
        #expect(!table.covers("a", Region("DE")) && !table.covers("a", nil))
        #expect(table.covers("b", Region("DE")) && !table.covers("b", Region("FR")) && !table.covers("b", nil))
        #expect(Self.table.covers("main", nil) && Self.table.covers("main", Region("FR")))
    }
}
