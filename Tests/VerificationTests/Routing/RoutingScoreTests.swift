// SPDX-License-Identifier: Apache-2.0

import Formats
import TestTools
import Testing
import Verification

@Suite struct RoutingScoreTests {
    private let start = ContinuousClock.now
    private var score = HealthScore()

    private mutating func errors(_ count: Int, from time: Duration, over span: Duration = .seconds(1)) {
        for index in 0..<count { score.noteError(at: start + time + span * index / max(1, count)) }
    }

    private mutating func arrivals(_ count: Int, after time: Duration, at moment: Duration) {
        for _ in 0..<count { score.noteArrival(after: time, at: start + moment) }
    }

    private mutating func points(at time: Duration) -> Int { score.points(at: start + time) }

    @Test mutating func `fifty errors in a minute are allowed and one more costs ten points`() {
        errors(50, from: .zero)
        #expect(points(at: .seconds(1)) == 100)
        errors(1, from: .seconds(2))
        #expect(points(at: .seconds(2)) == 90)
    }

    @Test mutating func `errors further apart cost nothing`() {
        for minute in 0..<10 { errors(50, from: .seconds(61 * minute)) }
        #expect(points(at: .seconds(610)) == 100)
    }

    @Test mutating func `errors cost points once a minute, down to none`() {
        errors(2000, from: .zero, over: .seconds(59))
        #expect(points(at: .seconds(59)) == 90)
        for minute in 1..<30 { errors(100, from: .seconds(61 * minute)) }
        #expect(points(at: .seconds(1800)) == 0)
    }

    @Test mutating func `five minutes of calm give ten points back, up to all`() {
        for minute in 0..<3 { errors(100, from: .seconds(61 * minute)) }
        let last = Duration.seconds(125)
        #expect(points(at: last) == 70)
        #expect(points(at: last + .seconds(290)) == 70)
        #expect(points(at: last + .seconds(300)) == 80)
        #expect(points(at: last + .seconds(600)) == 90)
        #expect(points(at: last + .seconds(100_000)) == 100)
    }

    @Test mutating func `fifteen in a hundred that take over five minutes are slow`() {
        arrivals(86, after: .seconds(5), at: .zero)
        arrivals(14, after: .seconds(301), at: .zero)
        #expect(!score.isSlow(at: start))
        arrivals(2, after: .seconds(301), at: .zero)
        #expect(score.isSlow(at: start))
        #expect(!score.isSlow(at: start + .seconds(900)))
    }

    @Test mutating func `a few messages say nothing of a share`() {
        arrivals(19, after: .seconds(600), at: .zero)
        #expect(!score.isSlow(at: start))
        arrivals(1, after: .seconds(600), at: .zero)
        #expect(score.isSlow(at: start))
    }

    @Test func `a slow provider loses points every five minutes, unless all are slow`() {
        var board = HealthBoard(channels: ["a": .sms, "b": .sms, "mailer": .email])
        for minute in 0..<11 {
            for _ in 0..<30 { board.noteArrival("a", after: .seconds(400), at: start + .seconds(60 * minute)) }
        }
        #expect(board.state(of: "a", at: start + .seconds(600)).points == 70)
        #expect(board.state(of: "b", at: start + .seconds(600)).points == 100)

        var slow = HealthBoard(channels: ["a": .sms, "b": .sms, "mailer": .email])
        for minute in 0..<11 {
            let now = start + .seconds(60 * minute)
            for _ in 0..<30 { slow.noteArrival("a", after: .seconds(400), at: now) }
            if minute == 0 { #expect(slow.state(of: "a", at: now).points == 90) }
            for _ in 0..<30 { slow.noteArrival("b", after: .seconds(400), at: now) }
        }
        #expect(slow.state(of: "a", at: start + .seconds(1)).points == 90)
        #expect(slow.state(of: "b", at: start + .seconds(1)).points == 100)
    }

    @Test func `a message that is refused or throttled is no error`() {
        for outcome in [ProviderOutcome.accepted, .refused, .impossible, .optedOut, .fraud, .throttled] {
            var health = ProviderHealth(seed: 1)
            for second in 0..<200 {
                let now = start + .milliseconds(100 * second)
                guard case .go(let call) = health.begin(at: now) else { continue }
                health.end(call, ProviderAnswer(outcome, retryAfter: .zero), at: now)
            }
            #expect(health.state(at: start + .seconds(20)).points == 100, "\(outcome)")
        }
    }

    @Test func `points stay within their bounds and only rise while all is calm`() {
        var random = TestSeed("points")
        for _ in 0..<100 {
            var score = HealthScore()
            var now = start
            for _ in 0..<500 {
                now += .milliseconds(random.below(random.chance(2) ? 600_000 : 2000))
                switch random.below(3) {
                case 0: for _ in 0..<random.below(60) { score.noteError(at: now) }
                case 1: score.noteArrival(after: .seconds(random.below(600)), at: now)
                default: score.loseForSlowness(at: now)
                }
                #expect((0...100).contains(score.points(at: now)), "COURIER_TEST_SEED=\(random.seed)")
            }
            var last = score.points(at: now)
            for step in 1...60 {
                let points = score.points(at: now + .seconds(60 * step))
                #expect(points >= last && points <= 100, "COURIER_TEST_SEED=\(random.seed)")
                last = points
            }
            #expect(last == 100)
        }
    }
}
