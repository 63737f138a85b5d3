// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The result of a replay of budgets, as text for people or JSON for scripts.
struct BudgetReplayOutput {
    let replay: BudgetReplay
    let end: Timestamp

    /// The name of the only budget to show; nil for all.
    let name: String?

    /// True to show each step of a window, too.
    var hasSteps = false

    private var shown: [(key: BudgetKey, account: ReplayedBudget)] {
        replay.accounts.filter { name == nil || $0.key.name == name }.sorted { $0.key < $1.key }
            .map { (key: $0.key, account: $0.value) }
    }

    var lines: [String] {
        var lines = [
            "policy \(replay.policy.version), from \(replay.since.rfc3339) to \(end.rfc3339): "
                + "\(replay.messages.grouped) messages\(replay.first.map { ", the first at \($0.rfc3339)" } ?? "")"
        ]
        for (key, account) in shown {
            lines += ["", "budget \(key.name) of tenant \(key.tenant): \(account.budget.text)"] + account.table.lines
            if hasSteps { lines += [""] + account.stepTable.lines }
        }
        return lines + [""] + notes
    }

    private var notes: [String] {
        var notes = replay.unpriced.sorted { $0.key < $1.key }.map { provider, count in
            "\(count.grouped) messages of provider \(provider) have no price here and cost nothing"
        }
        if replay.strangers > 0 {
            notes.append("\(replay.strangers.grouped) messages are of tenants that the policy does not have")
        }
        if replay.byHour > 0 {
            notes.append(
                "\(replay.byHour.grouped) messages are known by the hour only: of one segment, of no purpose, without those "
                    + "that a block of the brake explains"
            )
        }
        if replay.policy.prices?.prices.contains(where: { $0.prefix != nil }) == true {
            notes.append("prices of prefixes are left out: of a past number only the region is stored")
        }
        return notes + ["requests that were refused then are not among them"]
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { root in
            root.member("policyVersion", replay.policy.version)
            root.member("since", replay.since.rfc3339)
            root.member("until", end.rfc3339)
            root.member("messages", replay.messages)
            root.member("firstMessage", ifPresent: replay.first?.rfc3339)
            root.member("messagesByHour", replay.byHour)
            root.member("messagesOfOtherTenants", replay.strangers)
            root.object("unpriced") { object in
                for (provider, count) in replay.unpriced.sorted(by: { $0.key < $1.key }) {
                    object.member(named: provider, count)
                }
            }
            root.array("budgets") { budgets in
                for (key, account) in shown {
                    budgets.object { budget in
                        budget.member("tenant", key.tenant)
                        budget.member("name", key.name)
                        account.write(to: &budget)
                    }
                }
            }
        }
        return writer.bytes
    }
}

extension ReplayedBudget {
    fileprivate var table: TextTable {
        var table = TextTable()
        table.row("messages", messages.grouped)
        table.row("spent", "\(spent) of \(asked) \(budget.currency) that they cost")
        if let peak {
            let percent = Int(Double(peak.used.micros) / Double(budget.amount.micros) * 100)
            table.row("most in a window", "\(peak.used), \(percent) %, at \(peak.at.rfc3339)")
        }
        for percent in budget.warnAt {
            guard let spells = warned[percent], spells.count > 0 else { continue }
            table.row("at \(percent) %", spells.text)
        }
        if budget.reserve > 0 { table.row("only confirmed people", reserved.text) }
        table.row("exhausted", exhausted.text)
        let verb = budget.mode == .record ? "would be refused" : "refused"
        let people =
            "\(refusedPeople.grouped) first ones of people, of whom \(refusedApproved.grouped) typed their code"
        table.row(verb, refused == 0 ? "nobody" : "\(refused.grouped) messages: \(people)")
        return table
    }

    fileprivate var stepTable: TextTable {
        var table = TextTable(numbers: [1, 2], indent: 4)
        table.row("step", "spent", "refused")
        for step in steps { table.row(step.start.rfc3339, "\(step.spent)", step.refused.grouped) }
        return table
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.member("period", budget.period.rawValue)
        json.member("currency", budget.currency)
        json.member("amount", budget.amount.description)
        json.member("reserve", budget.reserve)
        json.member("mode", budget.mode.rawValue)
        json.member("messages", messages)
        json.member("asked", asked.description)
        json.member("spent", spent.description)
        if let peak {
            json.object("most") { object in
                object.member("used", peak.used.description)
                object.member("at", peak.at.rfc3339)
            }
        }
        json.array("warned") { array in
            for percent in budget.warnAt {
                array.object { object in
                    object.member("percent", percent)
                    (warned[percent] ?? Spells()).write(to: &object)
                }
            }
        }
        json.object("onlyConfirmed") { reserved.write(to: &$0) }
        json.object("exhausted") { exhausted.write(to: &$0) }
        json.object("refused") { object in
            object.member("messages", refused)
            object.member("people", refusedPeople)
            object.member("approved", refusedApproved)
        }
        json.array("steps") { array in
            for step in steps {
                array.object { object in
                    object.member("start", step.start.rfc3339)
                    object.member("spent", step.spent.description)
                    object.member("refused", step.refused)
                }
            }
        }
    }
}

extension ReplayedBudget.Spells {
    fileprivate var text: String {
        guard let first else { return "never" }
        return
            "\(count == 1 ? "once" : "\(count.grouped) times"), in \(minutes.grouped) minutes, first \(first.rfc3339)"
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.member("times", count)
        json.member("minutes", minutes)
        json.member("first", ifPresent: first?.rfc3339)
    }
}
