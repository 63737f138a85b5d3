// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import TestSupport
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("budget replay")
struct BudgetReplayTests {
    private static let noon = Timestamp(microseconds: 1_795_176_000_000_000)

    private static func budget(
        _ amount: String,
        _ period: Budget.Period = .hour,
        reserve: Int = 0,
        mode: Budget.Mode = .enforce,
        name: String = "a"
    ) -> Budget {
        Budget(
            name: name,
            amount: Money(amount) ?? .zero,
            currency: "USD",
            period: period,
            timeZone: "Europe/Berlin",
            reserve: reserve,
            mode: mode
        )
    }

    private static func replay(_ budgets: [Budget], since: Timestamp = noon) -> BudgetReplay {
        let plain = Policy.test { $0.budgets = budgets }
        let prices = [
            PriceTable.Price(provider: "main", Money(micros: 100_000), per: .segment),
            PriceTable.Price(provider: "main", region: Region("DE"), Money(micros: 200_000), per: .message),
        ]
        let policy = Policy(
            version: "1",
            tenants: plain.tenants,
            prices: PriceTable(currency: "USD", prices: prices)
        )
        return BudgetReplay(policy: policy, since: since)
    }

    private static func past(
        _ minute: Int,
        _ count: Int,
        region: String = "GB",
        provider: String? = "main",
        isConfirmed: Bool = false,
        isFirst: Bool = true,
        isApproved: Bool = false
    ) -> PastMessages {
        PastMessages(
            minute: noon + .seconds(60) * minute,
            tenant: "default",
            purpose: .signIn,
            channel: .sms,
            region: Region(region) ?? .unknown,
            provider: provider,
            segments: 2,
            isConfirmed: isConfirmed,
            isFirst: isFirst,
            isApproved: isApproved,
            count: count
        )
    }

    private func account(_ replay: BudgetReplay, _ name: String = "a") throws -> ReplayedBudget {
        try #require(replay.accounts[BudgetKey(tenant: "default", name: name)])
    }

    @Test func `what fits is spent, and the rest is refused until the window has moved on`() throws {
        var replay = Self.replay([Self.budget("2.00")])
        replay.add([Self.past(0, 6), Self.past(0, 1, region: "DE")])
        replay.add([Self.past(1, 6, isApproved: true), Self.past(1, 3, isFirst: false)])
        // The step of 12:00 leaves the window at 13:00.
        replay.add([Self.past(59, 1)])
        replay.add([Self.past(60, 4)])
        let account = try account(replay)
        #expect(account.spent == Money("2.80") && account.messages == 21)
        #expect(account.asked == Money("4.20"))
        #expect(account.refused == 7)
        #expect(account.peak?.used == Money("2.00") && account.peak?.at == Self.noon + .seconds(60))
        #expect(account.exhausted.count == 1 && account.exhausted.minutes == 2)
        #expect(account.exhausted.first == Self.noon + .seconds(60))
        #expect(account.warned[50]?.count == 1 && account.warned[50]?.first == Self.noon)
        #expect(account.warned[95]?.first == Self.noon + .seconds(60))
        #expect(account.steps.map(\.spent) == [Money("2.00"), .zero, Money("0.80")])
        #expect(account.steps.map(\.refused) == [6, 1, 0])
        #expect(replay.messages == 21)
    }

    @Test func `those who are refused within a minute are mixed as they came`() throws {
        var replay = Self.replay([Self.budget("20.00")])
        replay.add([Self.past(0, 100, isApproved: true), Self.past(0, 100)])
        let account = try account(replay)
        // 100 of 200 fit.
        #expect(account.spent == Money("20.00") && account.refusedPeople == 100)
        #expect((45...55).contains(account.refusedApproved), "\(account.refusedApproved)")
    }

    @Test func `the reserve is for confirmed people`() throws {
        var replay = Self.replay([Self.budget("2.00", reserve: 20)])
        replay.add([Self.past(0, 12), Self.past(0, 2, isConfirmed: true)])
        var account = try account(replay)
        #expect(account.spent >= Money(micros: 1_600_000) && account.spent <= Money(micros: 2_000_000))
        #expect(account.reserved.count == 1 && account.exhausted.count == 0)
        replay.add([Self.past(1, 20, isConfirmed: true)])
        account = try self.account(replay)
        #expect(account.spent == Money("2.00") && account.exhausted.count == 1)
    }

    @Test func `a budget that records pays what it can and refuses nobody`() throws {
        let budgets = [Self.budget("1.00", mode: .record, name: "r"), Self.budget("2.00")]
        var replay = Self.replay(budgets)
        replay.add([Self.past(0, 20)])
        #expect(try account(replay, "r").spent == Money("1.00") && account(replay, "r").refused == 5)
        #expect(try account(replay).spent == Money("2.00") && account(replay).refused == 10)
    }

    @Test func `what came before the range fills the window, and is not counted`() throws {
        var replay = Self.replay([Self.budget("1.00", .day)], since: Self.noon + .seconds(3600))
        #expect(replay.start == Self.noon + .seconds(3600) - .seconds(23 * 3600))
        replay.add([Self.past(0, 4)])
        replay.add([Self.past(60, 4)])
        let account = try account(replay)
        #expect(account.spent == Money("0.20") && account.messages == 4 && account.refused == 3)
        #expect(replay.messages == 4 && account.steps.count == 1)
    }

    @Test func `a month begins at its zone's midnight`() throws {
        // 2026-12-01 in Berlin begins at 23:00 of November's last day in UTC.
        let end = try #require(Timestamp(rfc3339: "2026-11-30T23:00:00Z"))
        let minutes = Int((end - Self.noon).microseconds / 60_000_000)
        var replay = Self.replay([Self.budget("1.00", .month)])
        #expect(replay.start == Timestamp(rfc3339: "2026-10-31T23:00:00Z"))
        replay.add([Self.past(0, 5)])
        replay.add([Self.past(minutes - 1, 1)])
        replay.add([Self.past(minutes, 1)])
        let account = try account(replay)
        #expect(account.spent == Money("1.20") && account.refused == 1)
    }

    @Test func `messages without a price or a tenant are told and cost nothing`() throws {
        var replay = Self.replay([Self.budget("1.00")])
        replay.add([Self.past(0, 3, provider: "gone"), Self.past(0, 1, provider: nil)])
        // The price of an unknown provider is the dearest of the route, which is main's.
        #expect(try account(replay).spent == Money("0.20"))
        #expect(replay.unpriced == ["gone": 3])
        let output = BudgetReplayOutput(replay: replay, end: Self.noon + .seconds(60), name: nil, hasSteps: true)
        #expect(output.lines.contains("3 messages of provider gone have no price here and cost nothing"))
        #expect(output.lines.contains { $0.hasSuffix(" 0.20        0") })
        let json = String(decoding: output.json, as: UTF8.self)
        #expect(json.contains(#""spent":"0.20""#) && json.contains(#""unpriced":{"gone":3}"#))
    }
}
