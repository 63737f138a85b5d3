// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

extension PolicyExplanation {
    var isSent: Bool { decision.kind == .sent || decision.kind == .sentToTestNumber }

    var text: [String] {
        var table = TextTable()
        for line in lines { table.row(line.rule, line.verdict.text, line.saw) }
        return ["policy version \(policyVersion)", ""] + table.lines + ["", conclusion]
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { root in
            root.member("policyVersion", policyVersion)
            root.member("wouldBeSent", isSent)
            root.member("decision", decision.kind.rawValue)
            if !decision.reason.isEmpty { root.member("reason", decision.reason) }
            if !decision.rule.isEmpty { root.member("rule", decision.rule) }
            root.array("rules") { rules in
                for line in lines { rules.object { line.write(to: &$0) } }
            }
        }
        return writer.bytes
    }

    private var conclusion: String {
        switch decision.kind {
        case .sent:
            "It would be sent, unless live state (request id, slot, limits, brake) says otherwise: it is not read here."
        case .sentToTestNumber: "It would get the fixed code of its test number, and no message."
        default: "It would not be sent: \(decision.kind.rawValue), \(decision.reason), by the rule \(decision.rule)."
        }
    }
}

extension PolicyExplanation.Line {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("rule", rule)
        writer.member("verdict", verdict.name)
        switch verdict {
        case .refuses(let reason, let rule, let field):
            writer.member("reason", reason)
            writer.member("decidedBy", rule)
            writer.member("field", ifPresent: field)
        case .fails(let reason, let rule):
            writer.member("reason", reason)
            writer.member("decidedBy", rule)
        case .passes, .records, .skipped, .notReached, .liveState: break
        }
        if !saw.isEmpty { writer.member("saw", saw) }
    }
}

extension PolicyExplanation.Verdict {
    /// The verdict's name for scripts.
    var name: String {
        switch self {
        case .passes: "passes"
        case .records: "records"
        case .refuses: "refuses"
        case .fails: "fails"
        case .skipped: "skipped"
        case .notReached: "not_reached"
        case .liveState: "live_state"
        }
    }

    fileprivate var text: String {
        switch self {
        case .passes: "passes"
        case .records(let rule): "passes, recorded (\(rule))"
        case .refuses(let reason, _, let field): "REFUSES \(reason)\(field.map { " (\($0))" } ?? "")"
        case .fails(let reason, _): "FAILS \(reason)"
        case .skipped: "skipped"
        case .notReached: "not reached"
        case .liveState: "by live state"
        }
    }
}
