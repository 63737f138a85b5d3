// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import TestSupport
import TestTools
import Testing

@testable import Courier
@testable import Verification

@Suite(.timeLimit(.minutes(5))) struct BudgetWalletTests {
    private static let numbers = (0..<20).map { "+491512345\(1000 + $0)" }

    private static func policy(
        _ amount: String,
        mode: Budget.Mode = .enforce,
        _ change: (inout Budget) -> Void = { _ in }
    ) throws -> Policy {
        let plain = Policy.test { tenant in
            tenant.budgets = [
                Budget(name: "day", amount: Money(amount) ?? .zero, currency: "USD", period: .day, mode: mode)
            ]
            change(&tenant.budgets[0])
        }
        let price = try #require(Money("0.10"))
        return Policy(
            version: "budget.1",
            tenants: plain.tenants,
            prices: PriceTable(currency: "USD", prices: [.init(provider: "main", price, per: .segment)])
        )
    }

    @Test func `a budget is spent to its end and refuses the rest`() async throws {
        let budgets = MemoryBudgetLedger()
        let statistics = Statistics()
        try await MemoryWorker.with(budgets: budgets, statistics: statistics) { worker in
            worker.policies.replace(with: try Self.policy("0.55"))
            worker.source.add(Self.numbers)
            try await worker.settle(events: 20)
            #expect(worker.sink.answers.count { $0 == "sent" } == 5)
            #expect(worker.sink.answers.count { $0 == "rejected budget_exhausted" } == 15)
            #expect(worker.sink.costs == Array(repeating: "0.10 USD", count: 5))
            let line = try #require(worker.log.lines(.budgetExhausted).first)
            #expect(line.fields["budget"] == "day" && line.fields["spent"] == "0.55")
            #expect(worker.log.lines(.budgetExhausted).count == 1)
        }
        // The 5 cents that buy no message are given back at the stop.
        #expect(budgets.leased("day") == Money("0.50"))
        let half = try #require(Money("0.50"))
        let germany = try #require(Region("DE"))
        let spend = Statistics.Spend(
            amount: half,
            regions: [germany: half],
            budgets: [BudgetKey(tenant: "default", name: "day"): half]
        )
        #expect(statistics.take().spend == ["USD": spend])
    }

    @Test func `a warning has the forecast, and a lowered amount's line the money that is above it`() async throws {
        try await MemoryWorker.with(budgets: MemoryBudgetLedger()) { worker in
            worker.policies.replace(with: try Self.policy("1.00"))
            worker.source.add(Array(Self.numbers[..<6]))
            try await worker.settle(events: 6)
            let warning = try #require(worker.log.lines(.budgetWarned).first)
            #expect(warning.fields["percent"] == 50)
            #expect(warning.fields["forecast"] == .text((Timestamp.test + .seconds(3600)).rfc3339))
            worker.policies.replace(with: try Self.policy("0.20"))
            worker.source.add(Array(Self.numbers[6...]))
            try await worker.settle(events: 20)
            let line = try #require(worker.log.lines(.budgetExhausted).first)
            let money = [line.fields["spent"], line.fields["amount"], line.fields["overshoot"]].map { value in
                if case .text(let text)? = value { Money(text) } else { nil as Money? }
            }
            let (spent, amount) = (try #require(money[0]), try #require(money[1]))
            #expect(amount == Money("0.20") && spent > amount && money[2] == spent - amount)
        }
    }

    @Test func `messages that did not leave give their money back`() async throws {
        let budgets = MemoryBudgetLedger()
        let journal = Journal()
        let provider = MemoryProvider.taking(after: 5, of: ProviderAnswer(.refused), journal: journal)
        try await MemoryWorker.with([provider], journal: journal, budgets: budgets) { worker in
            worker.policies.replace(with: try Self.policy("0.50"))
            worker.source.add(Array(Self.numbers[..<5]))
            try await worker.settle(events: 5)
            #expect(worker.sink.answers == Array(repeating: "failed provider_refused", count: 5))
            worker.source.add(Array(Self.numbers[5..<12]))
            try await worker.settle(events: 12)
            #expect(worker.sink.answers.count { $0 == "sent" } == 5)
            #expect(worker.sink.answers.count { $0 == "rejected budget_exhausted" } == 2)
        }
        #expect(budgets.leased("day") == Money("0.50"))
    }

    @Test func `a budget that records refuses nobody and says so`() async throws {
        try await MemoryWorker.with(budgets: MemoryBudgetLedger()) { worker in
            worker.policies.replace(with: try Self.policy("0.25", mode: .record))
            worker.source.add(Array(Self.numbers[..<6]))
            try await worker.settle(events: 6)
            #expect(worker.sink.answers == Array(repeating: "sent", count: 6))
            let lines = worker.log.lines(.policyRecorded).filter { $0.fields["rule"] == "budget.day" }
            #expect(lines.count == 4)
        }
    }

    @Test func `an attack that has used up everybody's money locks no confirmed people out`() async throws {
        try await MemoryWorker.with(budgets: MemoryBudgetLedger()) { worker in
            worker.policies.replace(with: try Self.policy("1.00") { $0.reserve = 50 })
            worker.source.add(Array(Self.numbers[..<10]))
            try await worker.settle(events: 10)
            #expect(worker.sink.answers.count { $0 == "rejected budget_exhausted" } == 5)
            // Within the pause after the last refusal, between two people of the attack.
            worker.source.add([Self.numbers[10]])
            worker.source.add(records: [Self.confirmed(Self.numbers[11], offset: 100)])
            worker.source.add([Self.numbers[12]])
            try await worker.settle(events: 13)
            #expect(worker.sink.answers.count { $0 == "sent" } == 6)
            // The reserve, too, has an end.
            for (index, number) in Self.numbers[13...19].enumerated() {
                worker.source.add(records: [Self.confirmed(number, offset: 101 + Int64(index))])
            }
            try await worker.settle(events: 20)
            #expect(worker.sink.answers.count { $0 == "sent" } == 10)
        }
    }

    private static func confirmed(_ number: String, offset: Int64) -> InboundRecord {
        let recipient = #"{"phoneNumber":"\#(number)","confirmed":true}"#
        let json = #"{"requestId":"request-\#(number)","purpose":"sign_in","recipient":\#(recipient)}"#
        return .raw(json, offset: offset, at: .now)
    }

    @Test func `a batch that surely wrote nothing gets its money back`() async throws {
        let budgets = MemoryBudgetLedger()
        try await MemoryWorker.with(budgets: budgets) { worker in
            worker.policies.replace(with: try Self.policy("0.50"))
            worker.ledger.fail(.intake, Array(repeating: .slow, count: 4))
            worker.source.add(Array(Self.numbers[..<5]))
            try await worker.settle(events: 5)
            #expect(worker.sink.answers == Array(repeating: "sent", count: 5))
        }
        #expect(budgets.leased("day") == Money("0.50"))
    }

    @Test func `a batch that may be committed keeps its money`() async throws {
        let budgets = MemoryBudgetLedger()
        try await MemoryWorker.with(budgets: budgets) { worker in
            worker.policies.replace(with: try Self.policy("100"))
            worker.ledger.fail(.intake, [.answerLost])
            worker.source.add(Array(Self.numbers[..<5]))
            try await worker.settle(events: 5)
        }
        #expect(try #require(Money("0.50")) <= budgets.leased("day"))
    }

    @Test func `a time zone that the database does not know stops no other tenant`() async throws {
        try await MemoryWorker.with(budgets: MemoryBudgetLedger()) { worker in
            worker.policies.replace(
                with: try Self.policy("10") {
                    $0.period = .month
                    $0.timeZone = MemoryBudgetLedger.unknownZone
                }
            )
            worker.source.add(Array(Self.numbers[..<3]))
            try await worker.settle(events: 3)
            #expect(worker.sink.answers == Array(repeating: "rejected budget_exhausted", count: 3))
            let line = try #require(worker.log.lines(.budgetExhausted).first)
            #expect(line.fields["budget"] == "day" && line.fields["error"] != nil)
        }
    }

    @Test(arguments: [true, false])
    func `only a result that was recorded gives money back`(isRecorded: Bool) {
        var accounts = BudgetAccounts()
        let key = BudgetKey(tenant: "default", name: "day")
        let send = SendReference.test(1)
        let part = BudgetPurse.Spending.Part(open: Money(micros: 100), reserved: .zero, bucket: .test)
        accounts.keep([send.id: .init(amount: Money(micros: 100), parts: [key: part])], until: .now + .seconds(60))
        let result = SendResult(send: send, disposition: .failed(.providerRefused), attempts: 1, attempt: nil)
        _ = accounts.settle(result, isRecorded: isRecorded)
        let returned = accounts.takeReturns(unusedFor: .zero, at: .now)
        #expect(returned.map(\.amount.micros) == (isRecorded ? [100] : []))
    }

    @Test func `without the budgets' table nothing is decided, and nothing is lost`() async throws {
        let budgets = MemoryBudgetLedger()
        try await MemoryWorker.with(budgets: budgets) { worker in
            worker.policies.replace(with: try Self.policy("10"))
            budgets.fail(true)
            worker.source.add([Self.numbers[0]])
            try await eventually("the outage is told") { worker.log.lines(.postgresFailing).count == 1 }
            #expect(worker.sink.answers.isEmpty)
            budgets.fail(false)
            try await worker.settle(events: 1)
            #expect(worker.sink.answers == ["sent"])
        }
    }

    /// Many workers spend one budget at random: batches, results, pauses, and deaths.
    @Test(arguments: [false, true], [1, 2, 3])
    func `the messages of all workers never cost more than the amount`(someDie: Bool, seed: UInt64) throws {
        let ledger = MemoryBudgetLedger()
        var random = TestSeed(seed: seed)
        let price = Money(micros: 75_000)
        let budget = Budget(name: "day", amount: Money(micros: 500_000_000), currency: "USD", period: .day)
        let key = BudgetKey(tenant: "default", name: "day")
        var workers = Array(repeating: BudgetAccounts(), count: 12)
        var sent = Money.zero
        let now = ContinuousClock.now
        for step in 0..<4000 {
            // Five seconds a step: an exhausted budget is asked again.
            let time = now + .seconds(5) * step
            let worker = Int.random(in: 0..<12, using: &random)
            let count = Int64.random(in: 1...40, using: &random)
            let need = BudgetNeed(tenant: "default", budget: budget, open: Money(micros: count * price.micros))
            let asks = workers[worker].asks(for: [key: need], at: now, ahead: 16)
            for lease in try ledger.leaseNow(asks) { workers[worker].add(lease, at: now) }
            let purse = workers[worker].purse(for: [key: need], at: now, pause: .zero)
            var left = purse.balances[key]?.open ?? .zero
            for _ in 0..<count where left >= price {
                left -= price
                // One in five messages does not leave, and gives its money back.
                if Int.random(in: 0..<5, using: &random) == 0 { left += price } else { sent += price }
            }
            workers[worker].putBack(left, .zero, .test, to: key)
            #expect(sent <= budget.amount && sent <= ledger.leased("day"))
            if Int.random(in: 0..<10, using: &random) == 0 {
                try ledger.giveBackNow(workers[worker].takeReturns(unusedFor: .zero, at: time))
            }
            if someDie, Int.random(in: 0..<200, using: &random) == 0 { workers[worker] = BudgetAccounts() }
        }
        if !someDie { #expect(sent > budget.amount.percent(98)) }
    }
}
