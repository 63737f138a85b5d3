// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing

@testable import Verification

@Suite struct BudgetPurseTests {
    private static func budget(_ name: String, reserve: Int = 0, mode: Budget.Mode = .enforce) -> Budget {
        Budget(
            name: name,
            amount: Money(micros: 1000),
            currency: "USD",
            period: .day,
            reserve: reserve,
            mode: mode
        )
    }

    private static func charge(_ budgets: [Budget], isConfirmed: Bool = false) -> BudgetCharge {
        BudgetCharge(tenant: "default", budgets: budgets, amount: Money(micros: 100), isConfirmed: isConfirmed)
    }

    private static func purse(_ balances: [String: (open: Int64, reserved: Int64)]) -> BudgetPurse {
        BudgetPurse(
            Dictionary(
                uniqueKeysWithValues: balances.map { name, money in
                    let balance = BudgetPurse.Balance(
                        open: Money(micros: money.open),
                        reserved: Money(micros: money.reserved),
                        bucket: .test,
                        renewal: .test + .seconds(60)
                    )
                    return (BudgetKey(tenant: "default", name: name), balance)
                }
            )
        )
    }

    private func left(_ purse: BudgetPurse, _ name: String) -> [Int64] {
        let balance = purse.balances[BudgetKey(tenant: "default", name: name)]
        return [balance?.open.micros ?? -1, balance?.reserved.micros ?? -1]
    }

    @Test func `all budgets are charged, or none`() throws {
        var purse = Self.purse(["a": (150, 0), "b": (90, 0)])
        var short: [Budget] = []
        let charge = Self.charge([Self.budget("a"), Self.budget("b")])
        let exhausted = #expect(throws: BudgetExhausted.self) {
            _ = try purse.take(charge.amount, for: charge, short: &short)
        }
        #expect(exhausted?.budget.name == "b" && exhausted?.renewal == .test + .seconds(60))
        #expect(left(purse, "a") == [150, 0] && left(purse, "b") == [90, 0])
        let one = Self.charge([Self.budget("a")])
        let spending = try purse.take(one.amount, for: one, short: &short)
        #expect(spending.parts.count == 1 && left(purse, "a") == [50, 0] && short.isEmpty)
    }

    @Test func `no budget pays for a message without a price`() throws {
        var purse = Self.purse(["a": (1000, 0)])
        var short: [Budget] = []
        let charge = Self.charge([Self.budget("a")])
        let exhausted = #expect(throws: BudgetExhausted.self) {
            _ = try purse.take(nil, for: charge, short: &short)
        }
        #expect(exhausted?.budget.name == "a" && left(purse, "a") == [1000, 0])
        let recording = Self.charge([Self.budget("a", mode: .record)])
        let spending = try purse.take(nil, for: recording, short: &short)
        #expect(spending.parts.isEmpty && short.map(\.name) == ["a"])
    }

    @Test(arguments: [("EH", "MA"), ("SJ", "NO"), ("MF", "GP"), ("US", "US")])
    func `a budget's region is that of its mobile numbers`(listed: String, shown: String) throws {
        var budget = Self.budget("a")
        budget.regions = [try #require(Region(listed))]
        #expect(budget.pays(for: nil, by: .sms, to: Region(shown)))
        #expect(!budget.pays(for: nil, by: .sms, to: Region("DE")) && !budget.pays(for: nil, by: .sms, to: nil))
    }

    @Test func `only confirmed people take from the reserve, and they take it first`() throws {
        var purse = Self.purse(["a": (50, 150)])
        var short: [Budget] = []
        let budget = Self.budget("a", reserve: 20)
        #expect(throws: BudgetExhausted.self) {
            _ = try purse.take(Money(micros: 100), for: Self.charge([budget]), short: &short)
        }
        let confirmed = Self.charge([budget], isConfirmed: true)
        _ = try purse.take(confirmed.amount, for: confirmed, short: &short)
        #expect(left(purse, "a") == [50, 50])
        let spending = try purse.take(confirmed.amount, for: confirmed, short: &short)
        #expect(left(purse, "a") == [0, 0])
        let part = spending.parts[BudgetKey(tenant: "default", name: "a")]
        #expect(part?.open.micros == 50 && part?.reserved.micros == 50)
    }

    @Test func `a budget that records lets everything through and pays what it has`() throws {
        var purse = Self.purse(["a": (120, 0), "b": (500, 0)])
        var short: [Budget] = []
        let charge = Self.charge([Self.budget("a", mode: .record), Self.budget("b")])
        _ = try purse.take(charge.amount, for: charge, short: &short)
        #expect(short.isEmpty)
        let spending = try purse.take(charge.amount, for: charge, short: &short)
        #expect(short.map(\.name) == ["a"] && spending.parts.count == 1)
        #expect(left(purse, "a") == [20, 0] && left(purse, "b") == [300, 0])
    }

    @Test func `a budget pays for its regions, channels and purposes`() throws {
        let request = try #require(VerificationRequest.test())
        var budget = Self.budget("a")
        #expect(budget.pays(for: request, to: Region("DE")))
        budget.regions = Set(["FR"].compactMap { Region($0) })
        #expect(!budget.pays(for: request, to: Region("DE")) && budget.pays(for: request, to: Region("FR")))
        #expect(!budget.pays(for: request, to: nil))
        budget.regions = nil
        budget.channels = [.email]
        #expect(!budget.pays(for: request, to: Region("DE")))
        budget.channels = nil
        budget.purposes = [request.purpose]
        #expect(budget.pays(for: request, to: Region("DE")))
        budget.purposes = [.appVerification]
        #expect(!budget.pays(for: request, to: Region("DE")))
    }
}

extension VerificationRequest {
    fileprivate static func test() -> VerificationRequest? {
        guard case .request(let request) = read(.request(id: "r", at: .test)) else { return nil }
        return request
    }
}
