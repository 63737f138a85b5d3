// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Verification

/// Tests the provider calls of one send.
@Suite struct DecisionAttemptTests {
    private static func call(_ provider: String) -> AttemptPlan.Step { .call(provider: provider) }

    /// Runs one claim, and returns the providers that were called and the end of the send.
    private static func play(
        _ answers: [ProviderOutcome],
        route: [String] = ["a", "b", "c", "d"],
        attempts: Int16 = 0
    ) -> (called: [String], attempts: Int16, end: SendDisposition?) {
        var plan = AttemptPlan(providers: route, attempts: attempts)
        var step = plan.step
        var called: [String] = []
        for answer in answers {
            guard case .call(let provider) = step else { break }
            called.append(provider)
            step = plan.take(.answered(ProviderAnswer(answer)), timeLeft: .seconds(300))
        }
        guard case .finish(let end) = step else { return (called, plan.attempts, nil) }
        return (called, plan.attempts, end)
    }

    /// Outcomes after which the provider certainly has no message, so that the next provider may be called.
    static let surelyNotSent: Set<ProviderOutcome> = [.notSent, .throttled, .refused, .impossible, .misconfigured]

    @Test(arguments: ProviderOutcome.allCases)
    func `another provider is asked only when this one surely did not take the message`(outcome: ProviderOutcome) {
        let played = Self.play([outcome])
        #expect(played.called == ["a"])
        if Self.surelyNotSent.contains(outcome) {
            #expect(played.end == nil)
            #expect(played.attempts == (outcome == .misconfigured ? 1 : 2))
        } else {
            #expect(played.end != nil)
            #expect(played.attempts == 1)
        }
    }

    @Test(arguments: ProviderOutcome.allCases, 0...2)
    func `each outcome ends a send alike at every position`(outcome: ProviderOutcome, position: Int) {
        let before = [ProviderOutcome](repeating: .refused, count: position)
        let played = Self.play(before + [outcome])
        let expected: SendDisposition? =
            switch outcome {
            case .accepted: .sent
            case .unknown: .unknown(.timeout)
            case .fraud: .failed(.fraudBlocked)
            case .optedOut: .failed(.optedOut)
            case .refused, .impossible: position == 2 ? .failed(.providerRefused) : nil
            case .notSent, .throttled: position == 2 ? .failed(.providerUnavailable) : nil
            case .misconfigured: nil
            }
        #expect(played.end == expected)
        #expect(played.called == Array(["a", "b", "c"].prefix(position + 1)))
    }

    @Test func `the next provider is asked after an opt-out only where the policy allows it`() {
        let outcomes: [(ProviderOutcome, SendDisposition)] = [
            (.accepted, .sent), (.refused, .failed(.optedOut)), (.optedOut, .failed(.optedOut)),
            (.fraud, .failed(.fraudBlocked)), (.unknown, .unknown(.timeout)),
        ]
        for (outcome, end) in outcomes {
            var plan = AttemptPlan(providers: ["a", "b"], attempts: 0, onOptOut: .next)
            #expect(plan.step == Self.call("a"))
            #expect(plan.take(.answered(ProviderAnswer(.optedOut)), timeLeft: .seconds(300)) == Self.call("b"))
            #expect(plan.refusers == ["a"])
            #expect(plan.take(.answered(ProviderAnswer(outcome)), timeLeft: .seconds(300)) == .finish(end))
        }
    }

    @Test func `a person who has opted out is told so when the only provider that may be asked is gone`() {
        let none = AttemptPlan(providers: [], attempts: 0, isOptedOut: true)
        #expect(none.step == .finish(.failed(.optedOut)))
        var unreached = AttemptPlan(providers: ["a"], attempts: 0, isOptedOut: true)
        #expect(unreached.step == Self.call("a"))
        let step = unreached.take(.answered(ProviderAnswer(.notSent)), timeLeft: .seconds(300))
        #expect(step == .finish(.retry(after: .seconds(1))))
    }

    @Test(arguments: ProviderOutcome.allCases)
    func `a send has three calls over all of its claims`(outcome: ProviderOutcome) {
        var attempts: Int16 = 0
        var calls = 0
        for _ in 0..<10 {
            let played = Self.play([outcome, outcome, outcome, outcome], route: ["a", "b"], attempts: attempts)
            calls += played.called.count
            attempts = played.attempts
            guard case .retry? = played.end else { break }
        }
        // A claim whose providers are all misconfigured counts as one attempt.
        #expect(calls <= (outcome == .misconfigured ? 6 : 3))
        #expect(attempts == (outcome == .misconfigured ? 3 : Int16(calls)))
        #expect(AttemptPlan.maximumAttempts == 3)
    }

    @Test(arguments: [3, 4, Int16.max] as [Int16])
    func `a claim of a send whose calls are used up calls nobody`(attempts: Int16) {
        let played = Self.play([.accepted], attempts: attempts)
        #expect(played.called.isEmpty)
        #expect(played.end == .failed(.providerUnavailable))
        #expect(played.attempts == attempts)
    }

    @Test func `an empty route calls nobody and fails`() {
        let played = Self.play([.accepted], route: [])
        #expect(played.called.isEmpty)
        #expect(played.end == .failed(.noRoute))
    }

    @Test func `a route that is empty for a reason fails by that reason`() {
        #expect(AttemptPlan(providers: [], refusers: ["a"], attempts: 1).step == .finish(.failed(.providerRefused)))
        #expect(AttemptPlan(providers: [], attempts: 0, isOptedOut: true).step == .finish(.failed(.optedOut)))
        #expect(AttemptPlan(providers: ["a"], attempts: 3).step == .finish(.failed(.providerUnavailable)))
    }

    @Test func `a route that refused to the last provider has failed for good`() {
        #expect(Self.play([.refused], route: ["a"]).end == .failed(.providerRefused))
        #expect(Self.play([.impossible, .refused], route: ["a", "b"]).end == .failed(.providerRefused))
    }

    @Test func `a route of which one could not be reached is tried again`() {
        #expect(Self.play([.notSent], route: ["a"]).end == .retry(after: .seconds(1)))
        #expect(Self.play([.refused, .notSent], route: ["a", "b"]).end == .retry(after: .seconds(2)))
        #expect(Self.play([.notSent, .refused], route: ["a", "b"]).end == .retry(after: .seconds(1)))
        #expect(Self.play([.misconfigured], route: ["a"]).end == .retry(after: .seconds(1)))
    }

    @Test func `a provider that is misconfigured takes none of a message's attempts`() {
        var attempts: Int16 = 0
        var called: [String] = []
        for answers in [[ProviderOutcome.misconfigured, .throttled], [.misconfigured, .throttled]] {
            let played = Self.play(answers, route: ["a", "b"], attempts: attempts)
            #expect(played.end == .retry(after: .seconds(attempts == 0 ? 2 : 4)))
            (attempts, called) = (played.attempts, called + played.called)
        }
        #expect(attempts == 2)
        let played = Self.play([.misconfigured, .accepted], route: ["a", "b"], attempts: attempts)
        #expect(played.end == .sent)
        #expect(called + played.called == ["a", "b", "a", "b", "a", "b"])
    }

    @Test(
        arguments: [
            ([(.misconfigured, nil), (.throttled, nil)], "b", .seconds(2)),
            ([(.misconfigured, nil), (.throttled, .seconds(5))], "b", .seconds(5)),
            ([(.notSent, nil), (.throttled, .seconds(5))], "b", .seconds(5)),
            ([(.throttled, .seconds(3)), (.notSent, nil)], "a", .seconds(3)),
            ([(.notSent, nil), (.throttled, .seconds(90))], "a", .seconds(1)),
            ([(.notSent, nil), (.notSent, .seconds(4))], "b", .seconds(4)),
            ([(.misconfigured, nil), (.misconfigured, nil)], "a", .seconds(1)),
            ([(.throttled, .seconds(4)), (.throttled, .seconds(3))], "b", .seconds(3)),
        ] as [([(ProviderOutcome, Duration?)], String, Duration)]
    )
    func `a retry goes to the provider that asked for it`(
        answers: [(ProviderOutcome, Duration?)],
        provider: String,
        wait: Duration
    ) {
        var plan = AttemptPlan(providers: ["a", "b"], attempts: 0)
        var step = plan.step
        for (outcome, wait) in answers { step = Self.step(&plan, outcome, retryAfter: wait) }
        #expect(step == .finish(.retry(after: wait)))
        #expect(plan.retryProvider == provider)
    }

    @Test func `the wait grows with every call`() {
        var waits: [Duration] = []
        for attempts in 0..<3 as Range<Int16> {
            guard case .retry(let wait)? = Self.play([.throttled], route: ["a"], attempts: attempts).end else { break }
            waits.append(wait)
        }
        #expect(waits == [.seconds(2), .seconds(4)])
    }

    @Test func `a provider's own wait is kept, and of several the shortest`() {
        var plan = AttemptPlan(providers: ["a", "b"], attempts: 0)
        #expect(plan.step == Self.call("a"))
        #expect(Self.step(&plan, .throttled, retryAfter: .seconds(90)) == Self.call("b"))
        #expect(Self.step(&plan, .notSent, retryAfter: .seconds(70)) == .finish(.retry(after: .seconds(70))))
    }

    @Test func `no wait of a provider traps`() {
        let waits: [(wait: Duration, end: SendDisposition)] = [
            (.seconds(Int64.max), .failed(.providerUnavailable)), (.zero, .retry(after: .zero)),
            (.seconds(-1), .retry(after: .zero)),
        ]
        for (wait, end) in waits {
            var plan = AttemptPlan(providers: ["a", "b"], attempts: 0)
            _ = Self.step(&plan, .throttled, retryAfter: wait)
            #expect(Self.step(&plan, .throttled, retryAfter: wait) == .finish(end))
        }
    }

    private static func step(
        _ plan: inout AttemptPlan,
        _ outcome: ProviderOutcome,
        retryAfter: Duration? = nil,
        timeLeft: Duration = .seconds(300)
    ) -> AttemptPlan.Step {
        plan.take(.answered(ProviderAnswer(outcome, retryAfter: retryAfter)), timeLeft: timeLeft)
    }

    @Test func `who refused the message is not asked again for it`() {
        var plan = AttemptPlan(providers: ["a", "b"], attempts: 0)
        #expect(plan.step == Self.call("a"))
        #expect(Self.step(&plan, .refused) == Self.call("b"))
        #expect(Self.step(&plan, .throttled) == .finish(.retry(after: .seconds(4))))
        #expect(plan.refusers == ["a"])
        var later = AttemptPlan(providers: ["a", "b"], refusers: plan.refusers, attempts: plan.attempts)
        #expect(later.step == Self.call("b"))
        #expect(Self.step(&later, .accepted) == .finish(.sent))
    }

    @Test func `when all have refused, over whatever claims, the send has failed for good`() {
        var plan = AttemptPlan(providers: ["a", "b"], refusers: ["a"], attempts: 2)
        #expect(plan.step == Self.call("b"))
        #expect(Self.step(&plan, .refused) == .finish(.failed(.providerRefused)))
        let none = AttemptPlan(providers: ["a"], refusers: ["a"], attempts: 1)
        #expect(none.step == .finish(.failed(.providerRefused)))
    }

    @Test(arguments: [ProviderOutcome.throttled, .notSent, .misconfigured])
    func `a wait beyond the message's time leads to the next provider, and fails behind the last`(
        outcome: ProviderOutcome
    ) {
        let wait = Duration.seconds(30)
        var plan = AttemptPlan(providers: ["a", "b"], attempts: 0)
        #expect(Self.step(&plan, outcome, retryAfter: wait, timeLeft: .seconds(30)) == Self.call("b"))
        let end = Self.step(&plan, outcome, retryAfter: wait, timeLeft: .seconds(29))
        #expect(end == .finish(.failed(.providerUnavailable)))
        var patient = AttemptPlan(providers: ["a"], attempts: 0)
        let later = Self.step(&patient, outcome, retryAfter: wait, timeLeft: .seconds(31))
        #expect(later == .finish(.retry(after: wait)))
    }
}
