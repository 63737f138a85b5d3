// SPDX-License-Identifier: Apache-2.0

import Formats
import TestTools
import Testing
import Verification

/// Tests when a provider's circuit opens and closes.
@Suite struct RoutingBreakerTests {
    private let start = ContinuousClock.now
    private var breaker = Breaker(seed: 7)

    /// Makes one call with the given outcome, and returns false when the circuit rejects the call.
    @discardableResult
    private mutating func call(_ outcome: ProviderOutcome, retryAfter: Duration? = nil, at time: Duration) -> Bool {
        guard case .go(let call) = breaker.begin(at: start + time) else { return false }
        breaker.end(call, ProviderAnswer(outcome, retryAfter: retryAfter), at: start + time)
        return true
    }

    private func wait(at time: Duration) -> Duration? { breaker.wait(at: start + time) }

    @Test(arguments: [ProviderOutcome.notSent, .unknown, .misconfigured])
    mutating func `five failures in a row open it for up to a second`(outcome: ProviderOutcome) {
        for _ in 0..<4 { call(outcome, at: .zero) }
        #expect(wait(at: .zero) == nil)
        call(outcome, at: .zero)
        let pause = wait(at: .zero) ?? .zero
        #expect(pause >= .milliseconds(750) && pause <= .seconds(1))
        #expect(!call(.accepted, at: pause - .microseconds(1)))
        #expect(call(.accepted, at: pause))
    }

    @Test mutating func `at a low volume the failed attempts of one message open it, and no burst of three does`() {
        for _ in 0..<3 { call(.notSent, at: .zero) }
        #expect(!breaker.isOpen)
        call(.accepted, at: .zero)
        for second in 10..<12 { call(.notSent, at: .seconds(second)) }
        #expect(!breaker.isOpen)
        call(.accepted, at: .seconds(12))
        for second in [13.0, 13.9, 14] {
            #expect(!breaker.isOpen)
            call(.notSent, at: .seconds(second))
        }
        #expect(breaker.isOpen)
    }

    @Test(arguments: [ProviderOutcome.refused, .impossible, .optedOut, .fraud, .accepted])
    mutating func `a provider that judges messages is alive`(outcome: ProviderOutcome) {
        for _ in 0..<100 { call(outcome, at: .zero) }
        #expect(wait(at: .zero) == nil)
        for _ in 0..<3 {
            for _ in 0..<4 { call(.notSent, at: .zero) }
            call(outcome, at: .zero)
        }
        #expect(wait(at: .zero) == nil)
    }

    @Test mutating func `a recipient that takes nothing at present is no fault of its provider`() {
        let deferred = ProviderAnswer(.notSent, isOfMessage: true)
        for _ in 0..<100 {
            guard case .go(let call) = breaker.begin(at: start) else { break }
            breaker.end(call, deferred, at: start)
        }
        #expect(wait(at: .zero) == nil)
        for _ in 0..<5 { call(.notSent, at: .zero) }
        guard case .go(let probe) = breaker.begin(at: start + .seconds(1)) else {
            Issue.record("no probe")
            return
        }
        breaker.end(probe, deferred, at: start + .seconds(1))
        #expect(!breaker.isOpen, "a provider that tells of a recipient is alive")

        var health = ProviderHealth()
        let points = health.state(at: start).points
        for _ in 0..<20 {
            guard case .go(let call) = health.begin(at: start) else { break }
            health.end(call, deferred, at: start)
        }
        #expect(health.state(at: start).points == points)
    }

    @Test(arguments: [ProviderAnswer.tooLate, .busy])
    mutating func `a message that was not tried says nothing of its provider, and frees the place of a probe`(
        answer: ProviderAnswer
    ) {
        func late(at time: Duration) -> Bool {
            guard case .go(let call) = breaker.begin(at: start + time) else { return false }
            breaker.end(call, answer, at: start + time)
            return true
        }
        for _ in 0..<100 { #expect(late(at: .zero)) }
        #expect(wait(at: .zero) == nil)
        for _ in 0..<4 { call(.notSent, at: .zero) }
        #expect(late(at: .zero))
        call(.notSent, at: .zero)
        #expect(wait(at: .zero) != nil, "it is no sign of life either")
        #expect(late(at: .seconds(1)))
        #expect(call(.accepted, at: .seconds(1)))
        #expect(!breaker.isOpen)

        var health = ProviderHealth()
        for _ in 0..<1000 {
            guard case .go(let call) = health.begin(at: start) else { break }
            health.end(call, answer, at: start)
        }
        #expect(health.state(at: start) == ProviderHealth.State())
    }

    @Test func `a probe is waited for as long as a call may take`() {
        var slow = Breaker(seed: 7, probeLimit: .seconds(45))
        for _ in 0..<Breaker.failuresToOpen {
            guard case .go(let call) = slow.begin(at: start) else { continue }
            slow.end(call, ProviderAnswer(.notSent), at: start)
        }
        let probing = start + .seconds(2)
        guard case .go(let probe) = slow.begin(at: probing) else {
            Issue.record("no probe")
            return
        }
        #expect(slow.wait(at: probing + .seconds(30)) != nil, "one probe at a time")
        slow.end(probe, ProviderAnswer(.accepted), at: probing + .seconds(30))
        #expect(!slow.isOpen)
    }

    @Test mutating func `one message goes through as a probe and its acceptance closes`() {
        for _ in 0..<5 { call(.notSent, at: .zero) }
        guard case .go(let probe) = breaker.begin(at: start + .seconds(1)) else {
            Issue.record("no probe")
            return
        }
        for _ in 0..<10 { #expect(!call(.accepted, at: .seconds(1))) }
        breaker.end(probe, ProviderAnswer(.accepted), at: start + .seconds(2))
        #expect(!breaker.isOpen)
        for _ in 0..<10 { #expect(call(.accepted, at: .seconds(2))) }
    }

    @Test mutating func `a failed probe doubles the pause, up to four seconds`() {
        for _ in 0..<5 { call(.unknown, at: .zero) }
        var now = Duration.zero
        for whole in [1.0, 2, 4, 4, 4, 4] {
            let pause = wait(at: now) ?? .zero
            #expect(pause >= .seconds(whole * 0.75) && pause <= .seconds(whole))
            now += pause
            #expect(call(.unknown, at: now))
        }
    }

    @Test mutating func `what calls from before come to changes nothing`() {
        var calls: [Breaker.Call] = []
        for _ in 0..<500 {
            if case .go(let call) = breaker.begin(at: start) { calls.append(call) }
        }
        #expect(calls.count == 500)
        for call in calls { breaker.end(call, ProviderAnswer(.unknown), at: start + .milliseconds(10)) }
        let pause = wait(at: .milliseconds(10)) ?? .zero
        #expect(pause >= .milliseconds(750) && pause <= .seconds(1))
    }

    @Test mutating func `a probe without an answer is given up, and its late answer counts no more`() {
        for _ in 0..<5 { call(.notSent, at: .zero) }
        guard case .go(let lost) = breaker.begin(at: start + .seconds(1)) else {
            Issue.record("no probe")
            return
        }
        #expect(!call(.accepted, at: .seconds(15)))
        #expect(call(.notSent, at: .seconds(16)))
        breaker.end(lost, ProviderAnswer(.accepted), at: start + .seconds(16))
        #expect(wait(at: .seconds(16)) != nil)
    }

    @Test mutating func `a throttled answer pauses at once, for as long as the provider says`() {
        call(.throttled, retryAfter: .seconds(7), at: .zero)
        #expect(wait(at: .zero) == .seconds(7))
        call(.throttled, retryAfter: .seconds(1_000_000), at: .seconds(7))
        #expect(wait(at: .seconds(7)) == .seconds(60))
    }

    @Test(arguments: [ProviderOutcome.notSent, .unknown])
    mutating func `failures pause for as long as the provider says, and not shorter than without`(
        outcome: ProviderOutcome
    ) {
        for _ in 0..<4 { call(outcome, retryAfter: .seconds(7), at: .zero) }
        #expect(wait(at: .zero) == nil)
        call(outcome, retryAfter: .seconds(7), at: .zero)
        #expect(wait(at: .zero) == .seconds(7))
        call(outcome, retryAfter: .seconds(1_000_000), at: .seconds(7))
        #expect(wait(at: .seconds(7)) == .seconds(60))
        call(outcome, retryAfter: .seconds(-5), at: .seconds(67))
        let pause = wait(at: .seconds(67)) ?? .zero
        #expect(pause >= .seconds(3) && pause <= .seconds(4))
    }

    @Test mutating func `without a time a throttled answer pauses a second, doubling to thirty until one is accepted`()
    {
        var now = Duration.zero
        for whole in [1.0, 2, 4, 8, 16, 30, 30] {
            #expect(call(.throttled, at: now))
            let pause = wait(at: now) ?? .zero
            #expect(pause >= .seconds(whole * 0.75) && pause <= .seconds(whole))
            now += pause
        }
        #expect(call(.accepted, at: now))
        #expect(call(.throttled, at: now))
        #expect(wait(at: now).map { $0 <= .seconds(1) } == true)
    }

    @Test mutating func `a provider that falls silent is passed over after two seconds`() {
        for second in 0..<3 { call(.accepted, at: .seconds(second)) }
        for _ in 0..<5 { _ = breaker.begin(at: start + .seconds(10)) }
        #expect(wait(at: .milliseconds(11_999)) == nil)
        #expect(wait(at: .seconds(12)) != nil)
        #expect(!call(.accepted, at: .seconds(12)))
        #expect(breaker.isOpen)
    }

    @Test mutating func `a slow provider that answers is not silent`() {
        // Each answer takes six seconds, at ten calls a second. After the first answers all calls are allowed.
        var calls: [(Breaker.Call, Duration)] = []
        var passedOver = 0
        for tenth in 0..<1200 {
            let now = Duration.milliseconds(100 * tenth)
            while let (call, began) = calls.first, now - began >= .seconds(6) {
                breaker.end(call, ProviderAnswer(.accepted), at: start + now)
                calls.removeFirst()
            }
            if case .go(let call) = breaker.begin(at: start + now) {
                calls.append((call, now))
            } else if tenth > 300 {
                passedOver += 1
            }
        }
        #expect(passedOver == 0)
    }

    @Test func `it is never stuck open, and lets one probe through at a time`() {
        var random = TestSeed("breaker")
        for _ in 0..<200 {
            var breaker = Breaker(seed: random.next())
            var now = start
            var calls: [Breaker.Call] = []
            var probing: Breaker.Call?
            for _ in 0..<300 {
                now += .milliseconds(random.below(random.chance(5) ? 20_000 : 300))
                if random.chance(60) || calls.isEmpty {
                    let wasOpen = breaker.isOpen
                    switch breaker.begin(at: now) {
                    case .wait(let wait):
                        #expect(wait > .zero && wait <= Breaker.longestRetryAfter, "COURIER_TEST_SEED=\(random.seed)")
                    case .go(let call):
                        if wasOpen, let probe = probing {
                            #expect(probe.startedAt + Breaker.probeLimit <= now, "COURIER_TEST_SEED=\(random.seed)")
                        }
                        probing = wasOpen ? call : nil
                        // Some calls never end.
                        if random.chance(90) { calls.append(call) }
                    }
                } else {
                    let call = calls.remove(at: random.below(calls.count))
                    let outcome = random.pick(ProviderOutcome.allCases)
                    let wait = random.chance(50) ? Duration.seconds(random.below(200) - 20) : nil
                    breaker.end(call, ProviderAnswer(outcome, retryAfter: wait), at: now)
                    if call == probing { probing = nil }
                }
            }
            // A healthy provider is called again within a minute, whatever happened before. Calls that never ended may
            // count as silence once more, so the second pause must be the last one.
            var pauses = 0
            for _ in 0..<20 {
                switch breaker.begin(at: now) {
                case .go(let call): breaker.end(call, ProviderAnswer(.accepted), at: now)
                case .wait(let wait):
                    pauses += 1
                    now += wait
                }
            }
            #expect(pauses <= 2, "COURIER_TEST_SEED=\(random.seed)")
            #expect(!breaker.isOpen)
        }
    }
}
