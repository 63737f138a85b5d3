// SPDX-License-Identifier: Apache-2.0

import Testing
import Verification

/// The calls to providers for one send.
@Suite struct DecisionAttemptTests {
    private static func call(_ provider: String) -> AttemptPlan.Step { .call(provider: provider) }

    /// Plays one claim: the providers that were called, and how it ended.
    private static func play(
        _ answers: [ProviderOutcome],
        route: [String] = ["a", "b", "c", "d"],
        attempts: Int16 = 0
    ) -> (called: [String], attempts: Int16, end: SendDisposition?) {
        var plan = AttemptPlan(providers: route, attempts: attempts)
        var step = plan.start()
        var called: [String] = []
        for answer in answers {
            guard case .call(let provider) = step else { break }
            called.append(provider)
            step = plan.step(after: ProviderAnswer(answer))
        }
        guard case .finish(let end) = step else { return (called, plan.attempts, nil) }
        return (called, plan.attempts, end)
    }

    /// The answers after which the message was surely not taken, so that somebody else may be asked.
    static let surelyNotSent: Set<ProviderOutcome> = [.notSent, .throttled, .refused, .impossible, .misconfigured]

    @Test(arguments: ProviderOutcome.allCases)
    func `another provider is asked only when this one surely did not take the message`(outcome: ProviderOutcome) {
        let played = Self.play([outcome])
        #expect(played.called == ["a"])
        if Self.surelyNotSent.contains(outcome) {
            #expect(played.end == nil)
            #expect(played.attempts == 2)
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
            case .refused, .impossible: position == 2 ? .failed(.providerRefused) : nil
            case .notSent, .misconfigured, .throttled: position == 2 ? .failed(.providerUnavailable) : nil
            }
        #expect(played.end == expected)
        #expect(played.called == Array(["a", "b", "c"].prefix(position + 1)))
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
        #expect(calls <= 3)
        #expect(attempts == Int16(calls))
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
        #expect(played.end == .failed(.providerUnavailable))
    }

    @Test func `a route that refused to the last provider has failed for good`() {
        #expect(Self.play([.refused], route: ["a"]).end == .failed(.providerRefused))
        #expect(Self.play([.impossible, .refused], route: ["a", "b"]).end == .failed(.providerRefused))
    }

    @Test func `a route of which one could not be reached is tried again`() {
        #expect(Self.play([.notSent], route: ["a"]).end == .retry(after: .seconds(1)))
        #expect(Self.play([.refused, .notSent], route: ["a", "b"]).end == .retry(after: .seconds(2)))
        #expect(Self.play([.notSent, .refused], route: ["a", "b"]).end == .retry(after: .seconds(2)))
        #expect(Self.play([.misconfigured], route: ["a"]).end == .retry(after: .seconds(1)))
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
        #expect(plan.start() == Self.call("a"))
        #expect(plan.step(after: ProviderAnswer(.throttled, retryAfter: .seconds(30))) == Self.call("b"))
        let end = plan.step(after: ProviderAnswer(.notSent, retryAfter: .seconds(5)))
        #expect(end == .finish(.retry(after: .seconds(10))))
    }

    @Test func `no wait of a provider traps`() {
        for wait in [Duration.seconds(Int64.max), .zero, .seconds(-1)] {
            var plan = AttemptPlan(providers: ["a", "b"], attempts: 0)
            _ = plan.start()
            _ = plan.step(after: ProviderAnswer(.throttled, retryAfter: wait))
            let end = plan.step(after: ProviderAnswer(.throttled, retryAfter: wait))
            #expect(end == .finish(.retry(after: min(wait * 2, AttemptPlan.longestDelay))))
        }
    }
}
