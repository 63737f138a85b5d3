// SPDX-License-Identifier: Apache-2.0

import Formats
import TestTools
import Testing
import Verification

/// Tests sends after a lost answer, and sends whose provider is not called.
@Suite struct DecisionDoubtTests {
    /// Runs one claim on the route a, b, c, where `a` supports idempotency keys.
    private static func play(
        _ answers: [ProviderOutcome],
        attempts: Int16 = 0
    ) -> (called: [String], end: SendDisposition?) {
        var plan = AttemptPlan(providers: ["a", "b", "c"], idempotent: ["a"], attempts: attempts)
        var step = plan.step
        var called: [String] = []
        for answer in answers {
            guard case .call(let provider) = step else { break }
            called.append(provider)
            step = plan.take(.answered(ProviderAnswer(answer)), timeLeft: .seconds(300))
        }
        guard case .finish(let end) = step else { return (called, nil) }
        return (called, end)
    }

    @Test func `a provider that takes a key is called again after a lost answer`() {
        #expect(Self.play([.unknown, .accepted]) == (["a", "a"], .sent))
        #expect(Self.play([.unknown, .notSent, .accepted]) == (["a", "a", "a"], .sent))
    }

    @Test func `calls with the same key are among the three of a send`() {
        let all = [ProviderOutcome](repeating: .unknown, count: 9)
        #expect(Self.play(all) == (["a", "a", "a"], .unknown(.timeout)))
        #expect(Self.play(all, attempts: 2) == (["a"], .unknown(.timeout)))
    }

    @Test func `without a key nobody is called after a lost answer`() {
        #expect(Self.play([.notSent, .unknown, .accepted]) == (["a", "b"], .unknown(.timeout)))
    }

    @Test(arguments: [ProviderOutcome.throttled, .refused, .impossible, .optedOut, .fraud, .misconfigured])
    func `after a lost answer a refusal proves nothing and nobody else is asked`(outcome: ProviderOutcome) {
        #expect(Self.play([.unknown, outcome, .accepted]) == (["a", "a"], .unknown(.timeout)))
    }

    @Test func `a provider that is passed over costs no attempt, and the next one is asked`() {
        var plan = AttemptPlan(providers: ["a", "b"], attempts: 0)
        #expect(plan.step == .call(provider: "a"))
        #expect(plan.take(.skipped(for: .seconds(3)), timeLeft: .seconds(300)) == .call(provider: "b"))
        #expect(plan.attempts == 1)
        #expect(plan.take(.answered(ProviderAnswer(.accepted)), timeLeft: .seconds(300)) == .finish(.sent))
    }

    @Test func `when all are passed over the send waits for the first of them`() {
        var plan = AttemptPlan(providers: ["a", "b"], attempts: 2)
        plan.take(.skipped(for: .seconds(3)), timeLeft: .seconds(300))
        let step = plan.take(.skipped(for: .milliseconds(200)), timeLeft: .seconds(300))
        #expect(step == .finish(.retry(after: .milliseconds(200))))
        #expect(plan.attempts == 2)
    }

    @Test func `a refusal does not end a send while another provider is only passed over`() {
        var plan = AttemptPlan(providers: ["a", "b"], attempts: 0)
        plan.take(.answered(ProviderAnswer(.refused)), timeLeft: .seconds(300))
        let step = plan.take(.skipped(for: .seconds(30)), timeLeft: .seconds(300))
        #expect(step == .finish(.retry(after: AttemptPlan.longestPause)))
        #expect(plan.refusers == ["a"])
    }

    @Test func `who only waits is asked again soon, however long its provider wants to be left alone`() {
        var plan = AttemptPlan(providers: ["a"], attempts: 0)
        #expect(plan.take(.skipped(for: .seconds(30)), timeLeft: .seconds(300)) == .finish(.retry(after: .seconds(2))))
    }

    @Test func `a send in doubt is unknown when its provider is passed over or its claim runs out`() {
        for end in [.skipped(for: .seconds(1)), .tooLate] as [AttemptPlan.Attempt] {
            var plan = AttemptPlan(providers: ["a", "b"], idempotent: ["a"], attempts: 0)
            #expect(plan.take(.answered(ProviderAnswer(.unknown)), timeLeft: .seconds(300)) == .call(provider: "a"))
            #expect(plan.take(end, timeLeft: .seconds(300)) == .finish(.unknown(.timeout)))
            #expect(plan.attempts == 1)
        }
    }

    @Test func `a claim that runs out before anything is in doubt is handed back`() {
        var plan = AttemptPlan(providers: ["a"], attempts: 1)
        #expect(plan.take(.tooLate, timeLeft: .seconds(300)) == .finish(.retry(after: .zero)))
        #expect(plan.attempts == 1)
    }

    @Test func `no calls and answers bring a send to two providers after a lost answer`() {
        var random = TestSeed("lost answers")
        for _ in 0..<5000 {
            let key = random.chance(50) ? Set(["a", "b"]) : []
            var plan = AttemptPlan(providers: ["a", "b", "c"], idempotent: key, attempts: Int16(random.below(3)))
            var step = plan.step
            var inDoubt: String?
            var steps = 0
            while case .call(let provider) = step {
                steps += 1
                #expect(inDoubt == nil || inDoubt == provider, "COURIER_TEST_SEED=\(random.seed)")
                if random.chance(20) {
                    step = plan.take(.skipped(for: .seconds(1)), timeLeft: .seconds(300))
                } else {
                    let outcome = random.pick(ProviderOutcome.allCases)
                    if outcome == .unknown { inDoubt = provider }
                    step = plan.take(.answered(ProviderAnswer(outcome)), timeLeft: .seconds(300))
                }
            }
            #expect(steps <= 6 && (0...3).contains(plan.attempts))
            if inDoubt != nil { #expect(step == .finish(.unknown(.timeout)) || step == .finish(.sent)) }
        }
    }
}
