// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import SettingsReading
import Verification

/// Shows the budgets of the policy, and changes their amounts for a time.
struct BudgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget",
        abstract: "Shows what the budgets have left, and changes an amount for a time.",
        discussion: """
            A budget of the policy bounds the money for text messages in an hour, a day or
            a month: docs/budgets.md.

              code-courier budget status --config courier.yaml
              code-courier budget raise all-day 900 --config courier.yaml --for 6h \\
                --reason "TV spot"
              code-courier budget restore all-day --config courier.yaml
              code-courier budget replay --config courier.yaml --policy next.yaml

            The login needs the role courier_operator and no other. Workers follow within
            seconds. It is done in one database: with several cells, each has its own
            budgets.
            """,
        subcommands: [
            BudgetStatusCommand.self, BudgetRaiseCommand.self, BudgetRestoreCommand.self, BudgetReplayCommand.self,
        ]
    )
}

extension OperatorDatabaseOptions {
    /// Runs a body with the budgets.
    func withBudgets<Value>(_ body: (BudgetDesk) async throws -> Value) async throws -> Value {
        try await withPool(for: "budget") { try await body(BudgetDesk(pool: $0)) }
    }
}

struct BudgetStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows each budget's amount, what is used of it, and until when it lasts.",
        discussion: """
            Used is the money that workers have leased in the window. Most of it is spent;
            what is not comes back within seconds, and a worker that died keeps its part
            until the window has moved on. A budget appears with its first message. It
            lasts until the time shown if money is used as in the last two steps of the
            window, 5 minutes each or an hour, and as the hours of the day usually differ.

              code-courier budget status --config courier.yaml
              code-courier budget status --config courier.yaml --tenant shop --json
            """
    )

    @OptionGroup var database: OperatorDatabaseOptions

    @Option(help: "Only this tenant's; default: all tenants'.")
    var tenant: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let states = try await database.withBudgets { try await $0.states(tenant: tenant) }
        let output = BudgetStatusOutput(states: states)
        if json { printOutput(output.json) } else { printOutput(output.lines) }
    }
}

struct BudgetRaiseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "raise",
        abstract: "Replaces a budget's amount for a time, by more or by less.",
        discussion: """
            A lower amount applies at once. Workers may still spend what they have leased,
            at most a few seconds' worth.

              code-courier budget raise all-day 900 --config courier.yaml --for 6h \\
                --reason "TV spot"
            """
    )

    @Argument(help: "The budget's name in the policy.")
    var name: String

    @Argument(help: ArgumentHelp("The amount in the budget's currency, such as 900.", valueName: "amount"))
    var amount: MoneyArgument

    @Option(help: "The tenant.")
    var tenant = "default"

    @Option(name: .customLong("for"), help: ArgumentHelp("How long, such as 90m, 48h or 30d.", valueName: "span"))
    var span: SpanArgument

    @Option(help: "Why, for those who read code-courier budget status.")
    var reason: String

    @OptionGroup var database: OperatorDatabaseOptions

    func validate() throws {
        guard (1...200).contains(reason.unicodeScalars.count) else {
            throw ValidationError("--reason must have 1 to 200 characters")
        }
    }

    func run() async throws {
        let key = BudgetKey(tenant: tenant, name: name)
        try await database.withBudgets { desk in
            let until = try await desk.raise(key, to: amount.money, lasting: span.duration, reason: reason)
            guard let until else { throw StartFailure.report([try await key.unknown(at: desk)]) }
            printOutput(["budget \(name) of tenant \(tenant): \(amount.money) until \(until.rfc3339)"])
        }
    }
}

struct BudgetRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Cancels a raise: the policy's amount is in force again.",
        discussion: """
            Use it when the reason for a raise is gone before its end.

              code-courier budget restore all-day --config courier.yaml --tenant shop
            """
    )

    @Argument(help: "The budget's name in the policy.")
    var name: String

    @Option(help: "The tenant.")
    var tenant = "default"

    @OptionGroup var database: OperatorDatabaseOptions

    func run() async throws {
        let key = BudgetKey(tenant: tenant, name: name)
        let isRestored = try await database.withBudgets { try await $0.restore(key) }
        printOutput([
            "budget \(name) of tenant \(tenant): \(isRestored ? "the policy's amount is in force" : "there was no raise")"
        ])
    }
}

/// An amount of money on the command line.
struct MoneyArgument: ExpressibleByArgument {
    let money: Money

    init?(argument: String) {
        guard let money = ValueRule.budgetAmount.parse(argument) else { return nil }
        self.money = money
    }
}

extension BudgetKey {
    /// The error for a budget that no worker has used, with the known budgets.
    fileprivate func unknown(at desk: BudgetDesk) async throws -> String {
        let names = try await desk.states(tenant: tenant).map(\.key.name)
        let known = names.isEmpty ? "none was used yet" : "there are \(names.joined(separator: ", "))"
        return "no budget \(name) of tenant \(tenant) was used yet; \(known)"
    }
}

/// The budgets for a person or a script.
struct BudgetStatusOutput {
    let states: [BudgetDesk.State]

    var lines: [String] {
        if states.isEmpty { return ["no budget was used yet"] }
        var table = TextTable(numbers: [3, 4, 5, 6])
        table.row("tenant", "budget", "per", "amount", "used", "%", "an hour", "lasts until", "")
        for state in states {
            table.row(
                state.key.tenant,
                state.key.name,
                state.period,
                "\(state.amountInForce) \(state.currency)",
                "\(state.used)",
                String(state.percent),
                "\(state.forecast.perHour)",
                state.end,
                state.notes.joined(separator: "; ")
            )
        }
        return table.lines
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { root in
            root.array("budgets") { budgets in
                for state in states { budgets.object { state.write(to: &$0) } }
            }
        }
        return writer.bytes
    }
}

extension BudgetDesk.State {
    fileprivate var percent: Int { Int(Double(used.micros) / Double(amountInForce.micros) * 100) }

    /// The time until which it lasts.
    fileprivate var end: String {
        if used >= amountInForce { return "now" }
        return forecast.exhaustedAt?.rfc3339 ?? (period == Budget.Period.month.rawValue ? "month's end" : "any time")
    }

    fileprivate var notes: [String] {
        [
            used >= amountInForce ? "exhausted" : nil,
            used < amountInForce && used >= amountInForce - amountInForce.percent(reserve)
                ? "only confirmed people" : nil,
            mode == Budget.Mode.record.rawValue ? "only recorded" : nil,
            raise.map { "\($0.createdBy): \($0.reason), until \($0.until.rfc3339)" },
        ].compactMap(\.self)
    }

    fileprivate func write(to budget: inout JSONWriter) {
        budget.member("tenant", key.tenant)
        budget.member("name", key.name)
        budget.member("period", period)
        if period == Budget.Period.month.rawValue { budget.member("timeZone", timeZone) }
        budget.member("currency", currency)
        budget.member("amount", amountInForce.description)
        budget.member("used", used.description)
        budget.member("policyAmount", amount.description)
        budget.member("reserve", reserve)
        budget.member("mode", mode)
        budget.member("nextStep", nextStep.rfc3339)
        budget.member("perHour", forecast.perHour.description)
        budget.member("exhaustedAt", ifPresent: forecast.exhaustedAt?.rfc3339)
        guard let raise else { return }
        budget.object("raise") { writer in
            writer.member("until", raise.until.rfc3339)
            writer.member("reason", raise.reason)
            writer.member("createdBy", raise.createdBy)
        }
    }
}
