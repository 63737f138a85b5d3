// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// The verdict of each rule of a policy on one request, in the order of the decision.
///
/// The rules are the worker's own. Those that need live state (request ids, slots, limits) are listed with their
/// thresholds, as for a recipient's first request.
struct PolicyExplanation {
    /// The verdict of a rule.
    enum Verdict: Equatable {
        case passes

        /// The request passes, and a log line names the rule.
        case records(String)
        case refuses(reason: String, rule: String, field: String?)

        /// Every rule passes, but the message cannot be sent.
        case fails(reason: String, rule: String)

        /// The rule does not apply to a test number.
        case skipped
        case notReached

        /// The rule depends on the database, which is not read.
        case liveState
    }

    struct Line: Equatable {
        let rule: String
        let saw: String
        let verdict: Verdict
    }

    let policyVersion: String
    private(set) var lines: [Line] = []

    /// The decision on the request for a recipient without history.
    let decision: SimulatedDecision

    /// True when the record cannot be read as a request.
    let isUnreadable: Bool

    /// Explains a record as if it were decided at `now`.
    init(
        of record: InboundRecord,
        policy: Policy,
        numbers: any NumberDirectory,
        maxRequestAge: Duration,
        now: Timestamp
    ) {
        let keys = CodeKeys.throwAway()
        let screener = Screener(policy: policy, keys: keys, numbers: numbers)
        var generator = SystemRandomNumberGenerator()
        let candidate = screener.candidate(for: record, now: now, using: &generator).at(now)
        var simulation = PolicySimulation(policy: policy, keys: keys, maxRequestAge: maxRequestAge)
        decision = simulation.decide(candidate, at: now)
        policyVersion = policy.version
        var steps: [ScreeningStep: RuleVerdict] = [:]
        switch candidate.content {
        case .deadLetter(let reason):
            isUnreadable = true
            read(record, .refuses(reason: reason.rawValue, rule: "readable", field: nil))
            leaveOut(from: ScreeningStep.tenant.rawValue, by: .sms)
        case .invalid(let request, let refusal):
            isUnreadable = false
            read(record, .passes)
            let verdict = Verdict(.refuses(refusal))
            let isTenant = refusal.reason == .unknownTenant
            add(ScreeningStep.tenant.rawValue, "", isTenant ? verdict : .passes)
            add("shape", "every field by its rule", isTenant ? .notReached : verdict)
            leaveOut(from: ScreeningStep.channel.rawValue, by: request.channel ?? .sms)
        case .request(let request, let screening):
            isUnreadable = false
            _ = screener.screen(request) { steps[$0] = $1 }
            read(record, .passes)
            let view = RequestView(request: request, policy: policy, numbers: numbers, now: now)
            var isTest = false
            if case .passed(let passed) = screening { isTest = passed.testNumber != nil }
            explain([.tenant], view, steps, isTest: isTest)
            add("shape", "every field by its rule", .passes)
            explain(Self.stepsBeforeID(request.channel), view, steps, isTest: isTest)
            add("request id", "the same id again gets the same answer", .liveState)
            explainTime(request, maxRequestAge, now)
            explain(Self.stepsAfterTime(request.channel), view, steps, isTest: isTest)
            explainMemory(view, isTest: isTest)
        }
    }

    /// The steps before the request id, which reject requests that could never be valid.
    private static func stepsBeforeID(_ channel: Channel) -> [ScreeningStep] {
        [ScreeningStep.channel] + Screener.steps(of: channel).prefix { $0 != .onlyTestNumbers }
    }

    /// Checks the providers' settings except secrets, which do not exist where a policy is written.
    private static func stepsAfterTime(_ channel: Channel) -> [ScreeningStep] {
        let first: [ScreeningStep] = channel == .sms ? [.testNumber] : []
        return first + Screener.steps(of: channel).drop { $0 != .onlyTestNumbers }
    }

    /// The steps that a test number does not skip.
    private static let stepsOfAll: Set<ScreeningStep> = [.tenant, .channel, .testNumber]

    /// The names of the rules in the order of the decision on a channel's request.
    private static func order(_ channel: Channel) -> [String] {
        let parts: [[String]] = [
            [ScreeningStep.tenant.rawValue, "shape"], stepsBeforeID(channel).map(\.rawValue), ["request id", "time"],
            stepsAfterTime(channel).map(\.rawValue), ["slot"], RequestView.limitNames,
            channel == .sms ? ["brake", "send"] : ["send"],
        ]
        return Array(parts.joined())
    }

    private mutating func add(_ rule: String, _ saw: String, _ verdict: Verdict) {
        let isOver = lines.contains { if case .refuses = $0.verdict { true } else { false } }
        lines.append(Line(rule: rule, saw: saw, verdict: isOver ? .notReached : verdict))
    }

    /// Adds the remaining rules, from `rule` on, as not reached.
    private mutating func leaveOut(from rule: String, by channel: Channel) {
        for name in Self.order(channel).drop(while: { $0 != rule }) { add(name, "", .notReached) }
    }

    private mutating func read(_ record: InboundRecord, _ verdict: Verdict) {
        add("readable", "\(record.value?.count ?? 0) bytes", verdict)
    }

    private mutating func explainTime(_ request: VerificationRequest, _ maxRequestAge: Duration, _ now: Timestamp) {
        var saw = "asked at \(request.asked(before: now).rfc3339), decided at \(now.rfc3339)"
        saw += ", at most \(DurationText.format(maxRequestAge)) later"
        if let deadline = request.deadline { saw += ", deadline \(deadline.rfc3339)" }
        let isTooLate = decision.kind == .expiredUnsent
        let refusal = Verdict.refuses(reason: decision.reason, rule: decision.rule, field: nil)
        add("time", saw, isTooLate ? refusal : .passes)
    }

    private mutating func explain(
        _ wanted: [ScreeningStep],
        _ view: RequestView,
        _ steps: [ScreeningStep: RuleVerdict],
        isTest: Bool
    ) {
        for step in wanted {
            let isSkipped = isTest && !Self.stepsOfAll.contains(step)
            add(step.rawValue, view.saw(step), isSkipped ? .skipped : steps[step].map(Verdict.init) ?? .notReached)
        }
    }

    private mutating func explainMemory(_ view: RequestView, isTest: Bool) {
        add("slot", isTest ? "no window for a test number" : view.tenant?.resend.text ?? "", .liveState)
        for limit in view.limits {
            add(limit.name, limit.text, isTest ? .skipped : limit.isCounted ? .liveState : .passes)
        }
        if view.request.channel == .sms {
            add("brake", view.brake.text, isTest ? .skipped : view.brake.isJudged ? .liveState : .passes)
        }
        let isFailed = decision.kind == .failed
        add("send", view.send, isFailed ? .fails(reason: decision.reason, rule: decision.rule) : .passes)
    }
}

extension PolicyExplanation.Verdict {
    fileprivate init(_ verdict: RuleVerdict) {
        self =
            switch verdict {
            case .passes: .passes
            case .isNoted(let rule): .records(rule)
            case .refuses(let refusal):
                .refuses(reason: refusal.reason.rawValue, rule: refusal.rule, field: refusal.field)
            }
    }
}
