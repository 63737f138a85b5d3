// SPDX-License-Identifier: Apache-2.0

import Verification

/// What each rule of a policy says of one request, in the order of the decision.
///
/// The rules are the worker's own. Those that need live state (request ids, slots, limits) are shown with the numbers
/// that they hold it against, as for a recipient who asks for the first time.
struct PolicyExplanation {
    /// What a rule said.
    enum Verdict: Equatable {
        case passes

        /// The request goes on, and a line in the log names the rule.
        case records(String)
        case refuses(reason: String, rule: String, field: String?)

        /// Every rule lets the request through, and its message cannot be sent.
        case fails(reason: String, rule: String)

        /// A test number is let past it.
        case skipped
        case notReached

        /// It depends on what is in the database, which is not read.
        case liveState
    }

    struct Line: Equatable {
        let rule: String
        let saw: String
        let verdict: Verdict
    }

    let policyVersion: String
    private(set) var lines: [Line] = []

    /// What the request would come to when nothing is known of its recipient.
    let decision: SimulatedDecision

    /// Whether the record is no request at all.
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

    /// The steps before the request id: whether the request can be meant at all.
    private static func stepsBeforeID(_ channel: Channel) -> [ScreeningStep] {
        [ScreeningStep.channel] + Screener.steps(of: channel).prefix { $0 != .onlyTestNumbers }
    }

    /// The steps behind the time; a phone number may be a test number, which skips the others.
    private static func stepsAfterTime(_ channel: Channel) -> [ScreeningStep] {
        let first: [ScreeningStep] = channel == .sms ? [.testNumber] : []
        return first + Screener.steps(of: channel).drop { $0 != .onlyTestNumbers }
    }

    /// The steps that a test number takes as well.
    private static let stepsOfAll: Set<ScreeningStep> = [.tenant, .channel, .testNumber]

    /// The rules in the order of the decision, as a request of the channel meets them.
    private static func order(_ channel: Channel) -> [String] {
        let parts: [[String]] = [
            [ScreeningStep.tenant.rawValue, "shape"], stepsBeforeID(channel).map(\.rawValue), ["request id", "time"],
            stepsAfterTime(channel).map(\.rawValue), ["slot"], RequestView.limitNames, ["send"],
        ]
        return Array(parts.joined())
    }

    private mutating func add(_ rule: String, _ saw: String, _ verdict: Verdict) {
        let isOver = lines.contains { if case .refuses = $0.verdict { true } else { false } }
        lines.append(Line(rule: rule, saw: saw, verdict: isOver ? .notReached : verdict))
    }

    /// Lists the rules from one on that nothing can be said of.
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
