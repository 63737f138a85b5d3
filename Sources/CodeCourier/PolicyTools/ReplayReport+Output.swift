// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

extension ReplayReport {
    /// The assumptions behind the numbers.
    var assumptions: [String] {
        [
            "Each request is decided at its record's time, as if no worker had been behind.",
            "No code counts as entered, and every message with a route counts as accepted: receipts and approvals are "
                + "not known here.",
            "State begins empty: what was sent before the range closes no window and counts in no limit.",
        ]
    }

    func text(policies: Pair<String>) -> [String] {
        let range = "from \(first?.rfc3339 ?? "-") to \(last?.rfc3339 ?? "-")"
        var lines = ["\(records.grouped) requests \(range)\(isInterrupted ? ", INTERRUPTED" : "")"]
        var names = TextTable()
        names.row("current", policies.current)
        names.row("candidate", policies.candidate)
        lines += names.lines
        let kinds = SimulatedDecision.Kind.allCases.compactMap { kind in decisions[kind].map { (kind.rawValue, $0) } }
        lines += section("decisions", kinds)
        lines += section("rejected by rule", refusals.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        lines += section("messages by region", sends.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        lines += ["", Self.saved(sendsSaved)] + flipLines + [""] + assumptions
        if lateRecords > 0 {
            lines.append("\(lateRecords.grouped) records were replayed out of the order of their times.")
        }
        return lines
    }

    private static func saved(_ count: Int) -> String {
        switch count {
        case 0: "The candidate sends as many messages."
        case 1...: "The candidate saves \(count.grouped) messages."
        default: "The candidate sends \((-count).grouped) messages more."
        }
    }

    private func section(_ title: String, _ rows: [(name: String, counts: Pair<Int>)]) -> [String] {
        guard !rows.isEmpty else { return [] }
        var table = TextTable(numbers: [1, 2, 3])
        table.row("", "current", "candidate", "difference")
        for (name, counts) in rows {
            table.row(name, counts.current.grouped, counts.candidate.grouped, counts.difference.signed)
        }
        return ["", title] + table.lines
    }

    private var flipLines: [String] {
        guard !flips.isEmpty else { return ["", "No request is decided otherwise."] }
        let total = flips.values.reduce(0, +)
        var table = TextTable(numbers: [4])
        table.row("tenant", "region", "current", "candidate", "requests")
        for (flip, count) in sortedFlips {
            table.row(flip.tenant, flip.region, flip.from.text, flip.to.text, count.grouped)
        }
        return ["", "\(total.grouped) requests are decided otherwise"] + table.lines
    }

    func json(versions: Pair<String>) -> [UInt8] {
        var writer = JSONWriter(reserving: 4096)
        writer.object { root in
            root.member("requests", records)
            root.member("from", ifPresent: first?.rfc3339)
            root.member("to", ifPresent: last?.rfc3339)
            root.member("interrupted", isInterrupted)
            root.member("outOfOrder", lateRecords)
            root.object("policyVersion") { version in
                version.member("current", versions.current)
                version.member("candidate", versions.candidate)
            }
            root.member("messagesSaved", sendsSaved)
            root.counts("decisions", decisions.map { ($0.key.rawValue, $0.value) })
            root.counts("rejectedByRule", refusals.map { ($0.key, $0.value) })
            root.counts("messagesByRegion", sends.map { ($0.key, $0.value) })
            root.array("flips") { list in
                for (flip, count) in sortedFlips { list.object { flip.write(to: &$0, count) } }
            }
            root.array("assumptions") { list in
                for assumption in assumptions { list.element(assumption) }
            }
        }
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func counts(_ name: StaticString, _ counts: [(String, Pair<Int>)]) {
        object(name) { members in
            for (name, pair) in counts.sorted(by: { $0.0 < $1.0 }) {
                members.object(named: name) { values in
                    values.member("current", pair.current)
                    values.member("candidate", pair.candidate)
                }
            }
        }
    }
}

extension ReplayReport.Flip {
    fileprivate func write(to writer: inout JSONWriter, _ count: Int) {
        writer.member("tenant", tenant)
        writer.member("region", region)
        for (name, decision) in [("from", from), ("to", to)] {
            writer.object(named: name) { member in
                member.member("decision", decision.kind.rawValue)
                if !decision.reason.isEmpty { member.member("reason", decision.reason) }
                if !decision.rule.isEmpty { member.member("rule", decision.rule) }
            }
        }
        writer.member("requests", count)
    }
}
