// SPDX-License-Identifier: Apache-2.0

import Formats
import TestTools
import Testing
import Verification

/// Runs a worker's sends against providers that fail and recover, in simulated time.
@Suite struct RoutingSimulationTests {
    /// Counts of a simulation.
    private struct Tally {
        var requests = 0
        var calls: [String: Int] = [:]
        var ends: [String: Int] = [:]

        /// Time from the main provider's recovery to its first successful send.
        var firstAfterHealing: Duration?
        var callsInBusiestSecond = 0
        var total: Int { calls.values.reduce(0, +) }
    }

    /// Simulates 200 requests a second for 100 s; `main` answers `fault` after `latency` from second 10 to 70.
    private static func run(route: Route, fault: ProviderOutcome, latency: Duration, seed: UInt64) -> Tally {
        var random = TestSeed(seed: seed)
        var board = HealthBoard(channels: ["main": .sms, "backup": .sms])
        let start = ContinuousClock.now
        var tally = Tally()
        var perSecond: [Int: Int] = [:]
        // Claims by the millisecond of their start, and answers by the millisecond of their arrival.
        var claims: [Int: [Int16]] = [:]
        var answers: [Int: [(AttemptPlan, String, Breaker.Call, ProviderOutcome)]] = [:]

        func proceed(_ started: AttemptPlan, _ time: Int, _ random: inout TestSeed) {
            var plan = started
            let now = start + .milliseconds(time)
            while case .call(let name) = plan.step {
                switch board.begin(name, at: now) {
                case .wait(let wait)?:
                    plan.take(.skipped(for: wait), timeLeft: .seconds(300))
                case .go(let call)?:
                    let isFaulty = name == "main" && (10_000..<70_000).contains(time)
                    tally.calls[name, default: 0] += 1
                    perSecond[time / 1000, default: 0] += 1
                    let delay = isFaulty ? Int(latency.microseconds / 1000) : 20 + random.below(60)
                    answers[time + max(1, delay), default: []].append((plan, name, call, isFaulty ? fault : .accepted))
                    return
                case nil:
                    plan.take(.skipped(for: .seconds(1)), timeLeft: .seconds(300))
                }
            }
            guard case .finish(let end) = plan.step else { return }
            switch end {
            case .retry(let delay):
                // The sweep runs twice a second.
                let due = (time + max(1, Int(delay.microseconds / 1000)) + 499) / 500 * 500
                claims[due, default: []].append(plan.attempts)
            case .sent: tally.ends["sent", default: 0] += 1
            case .failed: tally.ends["failed", default: 0] += 1
            default: tally.ends["unknown", default: 0] += 1
            }
        }

        for time in 0..<130_000 {
            let now = start + .milliseconds(time)
            for (plan, name, call, outcome) in answers.removeValue(forKey: time) ?? [] {
                var plan = plan
                let answer = ProviderAnswer(outcome)
                board.end(call, of: name, answer, at: now)
                if name == "main", outcome == .accepted, time >= 70_000, tally.firstAfterHealing == nil {
                    tally.firstAfterHealing = .milliseconds(time - 70_000)
                }
                plan.take(.answered(answer), timeLeft: .seconds(300))
                proceed(plan, time, &random)
            }
            var due = claims.removeValue(forKey: time) ?? []
            if time % 5 == 0, time < 100_000 {
                tally.requests += 1
                due.append(0)
            }
            for attempts in due {
                let plan = AttemptPlan(providers: board.order(route, at: now, using: &random), attempts: attempts)
                proceed(plan, time, &random)
            }
        }
        tally.callsInBusiestSecond = perSecond.values.max() ?? 0
        return tally
    }

    @Test func `a minute of 503 costs hardly any calls, loses few people and is over within five seconds`() {
        for outcome in [ProviderOutcome.notSent, .unknown] {
            var random = TestSeed("a minute of 503")
            let seed = random.next()
            let tally = Self.run(route: ["main", "backup"], fault: outcome, latency: .milliseconds(20), seed: seed)
            print("503 as \(outcome), with a backup: \(tally)")
            #expect(Double(tally.total) <= 1.1 * Double(tally.requests), "COURIER_TEST_SEED=\(random.seed)")
            #expect(tally.firstAfterHealing.map { $0 < .seconds(5) } == true)
            #expect(tally.ends["failed"] == nil)
            #expect(tally.ends["unknown", default: 0] <= 60)
            #expect(tally.ends.values.reduce(0, +) == tally.requests)
        }
    }

    @Test func `without another provider people wait for it, and all are served when it heals`() {
        var random = TestSeed("no backup")
        let tally = Self.run(route: ["main"], fault: .notSent, latency: .milliseconds(20), seed: random.next())
        print("503 without a backup: \(tally)")
        #expect(Double(tally.total) <= 1.1 * Double(tally.requests), "COURIER_TEST_SEED=\(random.seed)")
        #expect(tally.firstAfterHealing.map { $0 < .seconds(5) } == true)
        #expect(tally.ends["sent", default: 0] >= tally.requests - 20)
    }

    @Test func `a provider that swallows everything costs the messages of two seconds, not of ten`() {
        var random = TestSeed("silence")
        let tally = Self.run(route: ["main", "backup"], fault: .unknown, latency: .seconds(10), seed: random.next())
        print("a silent provider: \(tally)")
        // Two seconds at 200 a second before the circuit opens, and the probes.
        #expect(tally.ends["unknown", default: 0] <= 450, "COURIER_TEST_SEED=\(random.seed)")
        #expect(tally.ends["sent", default: 0] >= tally.requests - 450)
    }
}
