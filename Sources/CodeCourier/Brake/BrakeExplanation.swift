// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Verification

/// The effect of each scope of the toll-fraud brake on one request, as a worker would decide it now.
struct BrakeExplanation {
    struct Line: Equatable {
        let scope: BrakeScope
        let key: Int64

        /// The block, in force or ended within the hour; nil if there is none.
        let block: BrakeDesk.Block?

        /// The operator's order on this scope, if there is one.
        let order: BrakeDesk.Order?
        let effect: BrakeEffect
    }

    let subject: BrakeSubject
    let policy: BrakePolicy
    let policyVersion: String
    private(set) var lines: [Line] = []

    /// The operator's order on the number itself, if there is one.
    let orderOnNumber: BrakeDesk.Order?
    let verdict: BrakeVerdict

    init(of subject: BrakeSubject, policy: BrakePolicy, version: String, state: BrakeDesk.State) {
        self.subject = subject
        self.policy = policy
        policyVersion = version
        let board = state.board
        let snapshot = board[subject.tenant] ?? BrakeSnapshot([])
        let now = state.now
        func order(_ scope: BrakeOverride.Scope, _ key: Int64) -> BrakeDesk.Order? {
            state.orders.first { row in
                row.order.tenant == subject.tenant && row.order.scope == scope && row.order.key == key
            }
        }
        orderOnNumber = order(.phone, subject.recipient)
        verdict = snapshot.verdict(on: subject, under: policy, turns: board.turns, at: now)
        for scope in BrakeScope.allCases {
            guard let key = subject.key(of: scope) else { continue }
            let block = state.blocks.first { $0.tenant == subject.tenant && $0.block.key == key }
            let effect = snapshot.effect(of: key, on: subject, under: policy, turns: board.turns, at: now)
            let order = order(BrakeOverride.Scope(scope), key.value)
            lines.append(Line(scope: scope, key: key.value, block: block, order: order, effect: effect))
        }
    }

    var isRefused: Bool { verdict.refusal != nil }

    private var recipient: String { subject.number?.masked ?? "unknown" }

    var text: [String] {
        var table = TextTable(numbers: [4, 5, 6, 7])
        table.row("scope", "key", "state", "until", "expected", "observed", "surprise", "need", "now")
        for line in lines {
            let block = line.block?.block
            let need = line.scope.threshold.need / policy.rules.sensitivity
            table.row(
                line.scope.word,
                BrakeOverride.Scope(line.scope).text(of: line.key),
                block?.state.rawValue ?? "none",
                block?.end ?? "",
                block?.shortfall.expected.tenths ?? "",
                block.map { String($0.shortfall.observed) } ?? "",
                block?.shortfall.surprise.tenths ?? "",
                need.tenths,
                line.effect.text
            )
        }
        let person = subject.keys.isConfirmed ? "confirmed" : "not confirmed"
        var text = ["\(recipient), \(subject.region), \(person); policy \(policyVersion)", ""]
        text += table.lines
        if !orders.isEmpty { text += ["", "orders"] }
        for order in orders { text.append("  \(order.text)") }
        return text + ["", conclusion]
    }

    /// The orders on any scope of the request.
    private var orders: [BrakeDesk.Order] { (lines.map(\.order) + [orderOnNumber]).compactMap(\.self) }

    private var conclusion: String {
        if let refusal = verdict.refusal {
            return "It would be refused until \(refusal.until.rfc3339), by the rule \(refusal.key.scope.rule)."
        }
        if let key = verdict.recorded { return "It would be sent, and recorded for the rule \(key.scope.rule)." }
        return verdict.probes.isEmpty ? "It would be sent." : "It would be sent if it is a probe's turn, else refused."
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { root in
            root.member("recipient", recipient)
            root.member("tenant", subject.tenant)
            root.member("region", subject.region.code)
            root.member("policyVersion", policyVersion)
            root.member("wouldBeRefused", isRefused)
            if let refusal = verdict.refusal {
                root.member("rule", refusal.key.scope.rule)
                root.member("retryAfter", refusal.until.rfc3339)
            }
            root.member("recorded", ifPresent: verdict.recorded?.scope.rule)
            root.array("scopes") { scopes in
                for line in lines { scopes.object { line.write(to: &$0, policy) } }
            }
            root.array("orders") { orders in
                for order in self.orders { orders.object { order.write(to: &$0) } }
            }
        }
        return writer.bytes
    }
}

extension BrakeExplanation.Line {
    fileprivate func write(to writer: inout JSONWriter, _ policy: BrakePolicy) {
        writer.member("scope", scope.word)
        writer.member("key", BrakeOverride.Scope(scope).text(of: key))
        writer.member("effect", effect.name)
        writer.member("need", scope.threshold.need / policy.rules.sensitivity)
        if let block { block.writeMembers(to: &writer) }
    }
}

extension BrakeEffect {
    /// The effect's name for scripts.
    var name: String {
        switch self {
        case .none: "none"
        case .off: "off"
        case .exempt: "exempt"
        case .probe: "probe"
        case .recorded: "recorded"
        case .refused: "refused"
        }
    }

    fileprivate var text: String {
        switch self {
        case .none: "passes"
        case .off: "passes: off in the policy"
        case .exempt(.confirmed): "passes: confirmed"
        case .exempt(.allowed): "passes: allowed by the policy"
        case .exempt(.ordered): "passes: allowed by an order"
        case .exempt(.trusted): "passes: its app is verified"
        case .exempt(.resend): "passes: sent again"
        case .probe: "passes if it is a probe's turn"
        case .recorded(.mode): "passes, recorded: the mode is record"
        case .recorded(.fewApprovals): "passes, recorded: too few approvals"
        case .recorded(.launch): "passes, recorded: launch"
        case .refused: "REFUSES"
        }
    }
}

extension Double {
    /// The number with one digit after the point.
    fileprivate var tenths: String {
        let tenths = Int((self * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}
