// SPDX-License-Identifier: Apache-2.0

import Formats
import TestTools
import Testing
import Verification

/// Tests the queue for rate-limit tokens of a provider whose limit the fleet shares.
@Suite struct RoutingTokensTests {
    private static let rate = RateLimit(count: 40, per: .seconds(1))

    private let start: ContinuousClock.Instant
    private var tokens: ProviderTokens<Int>

    init() {
        start = .now
        tokens = ProviderTokens(rates: ["main": Self.rate], at: start)
    }

    private mutating func enter(_ waiters: Range<Int>, until: Duration = .seconds(5), at time: Duration = .zero) {
        for waiter in waiters {
            #expect(tokens.enter("main", waiter, until: start + until, at: start + time) == .waits)
        }
    }

    private mutating func grant(_ count: Int, nextAfter: Duration = .zero, at time: Duration) -> [Int] {
        tokens.granted(["main": TokenGrant(count: count, nextAfter: nextAfter)], at: start + time)
    }

    private mutating func expired(at time: Duration) -> [Int] { tokens.expired(at: start + time) }

    @Test mutating func `a provider without a limit lets everybody go and asks for nothing`() {
        #expect(tokens.enter("free", 1, until: start, at: start) == .go)
        #expect(tokens.wanted(at: start).isEmpty)
        #expect(tokens.nextEvent == nil)
    }

    @Test mutating func `those who wait are asked for in chunks of a quarter of a second, one question at a time`() {
        enter(0..<3)
        #expect(tokens.wanted(at: start) == ["main": TokenRequest(count: 3, rate: Self.rate)])
        enter(3..<80)
        #expect(tokens.wanted(at: start).isEmpty)
        #expect(grant(3, at: .milliseconds(2)) == [0, 1, 2])
        #expect(tokens.wanted(at: start + .milliseconds(3)).isEmpty)
        #expect(tokens.wanted(at: start + .milliseconds(52)) == ["main": TokenRequest(count: 10, rate: Self.rate)])
    }

    @Test mutating func `the next question comes when there is a turn`() {
        enter(0..<2)
        _ = tokens.wanted(at: start)
        #expect(grant(1, nextAfter: .milliseconds(400), at: .zero) == [0])
        #expect(tokens.nextEvent == start + .milliseconds(400))
        #expect(tokens.wanted(at: start + .milliseconds(399)).isEmpty)
        #expect(tokens.wanted(at: start + .milliseconds(400)).count == 1)
    }

    @Test mutating func `a waiter whose time is over goes away, and its turn serves another within a second`() {
        enter(0..<2, until: .milliseconds(10))
        _ = tokens.wanted(at: start)
        #expect(expired(at: .milliseconds(9)).isEmpty)
        #expect(expired(at: .milliseconds(10)) == [0, 1])
        #expect(expired(at: .milliseconds(10)).isEmpty)
        #expect(grant(2, at: .milliseconds(20)).isEmpty)
        #expect(tokens.enter("main", 2, until: start + .seconds(9), at: start + .milliseconds(500)) == .go)
        enter(3..<4, at: .milliseconds(1020))
    }

    @Test mutating func `no more wait than there may be turns for in a second, with those of the second before`() {
        enter(0..<80)
        #expect(tokens.enter("main", 80, until: start + .seconds(5), at: start) == .isFull)
        #expect(!tokens.isOverfull(at: start), "it may go to another provider")
        _ = tokens.wanted(at: start)
        #expect(grant(1, at: .zero) == [0])
        enter(81..<82)
        #expect(expired(at: .seconds(5)) == Array(1..<80) + [81], "who was sent away is not in the line")
    }

    @Test(arguments: [RateLimit(count: 1, per: .seconds(3600)), RateLimit(count: 1_000_000, per: .seconds(1))])
    func `a line has a place however low the rate is, and places however high`(rate: RateLimit) {
        var tokens = ProviderTokens<Int>(rates: ["main": rate], at: start)
        #expect(tokens.enter("main", 0, until: start, at: start) == .waits)
        let second = tokens.enter("main", 1, until: start, at: start)
        #expect(second == (rate.count == 1 ? .isFull : .waits))
        let absence = tokens.retryAfter(from: "main", at: start)
        #expect(absence == .seconds(rate.count == 1 ? 10 : 2))
    }

    @Test mutating func `the more are sent away, the longer each stays away, up to ten seconds`() {
        let absences = (0..<1000).map { _ in tokens.retryAfter(from: "main", at: start) }
        // At 40 tokens a second: the first 80 messages back off two seconds, each later one until its own token.
        #expect(absences[0..<80].allSatisfy { $0 == .seconds(2) })
        #expect(absences[119] == .seconds(3))
        #expect(absences[399...].allSatisfy { $0 == .seconds(10) })
        #expect(absences == absences.sorted())
        #expect(tokens.isOverfull(at: start + .milliseconds(9999)))
        #expect(!tokens.isOverfull(at: start + .seconds(10)), "by then there were tokens for them")
    }

    @Test mutating func `after a failure the fleet's store is asked again`() {
        enter(0..<1)
        let wanted = tokens.wanted(at: start)
        tokens.failed(wanted.keys, at: start)
        #expect(tokens.wanted(at: start + .milliseconds(999)).isEmpty)
        #expect(tokens.wanted(at: start + .seconds(1)).count == 1)
    }

    @Test func `everybody goes once or gives up, and no more go than turns were given`() {
        var random = TestSeed("turns")
        for _ in 0..<200 {
            var tokens = ProviderTokens<Int>(
                rates: ["a": Self.rate, "b": RateLimit(count: 1, per: .seconds(60))],
                at: start
            )
            var now = start
            var (entered, gone, given, direct, refused) = (0, Set<Int>(), 0, 0, 0)
            for step in 0..<300 {
                now += .milliseconds(random.below(100))
                switch random.below(4) {
                case 0, 1:
                    let until = now + .milliseconds(random.below(2000))
                    switch tokens.enter(random.pick(["a", "b"]), step, until: until, at: now) {
                    case .go: direct += 1
                    case .waits: entered += 1
                    case .isFull: refused += 1
                    }
                case 2:
                    let wanted = tokens.wanted(at: now)
                    var grants: [String: TokenGrant] = [:]
                    for (name, request) in wanted {
                        #expect(request.count > 0)
                        grants[name] = TokenGrant(count: random.below(request.count + 1), nextAfter: .zero)
                    }
                    given += grants.values.reduce(0) { $0 + $1.count }
                    for waiter in tokens.granted(grants, at: now) { #expect(gone.insert(waiter).inserted) }
                default:
                    for waiter in tokens.expired(at: now) { #expect(gone.insert(waiter).inserted) }
                }
            }
            for waiter in tokens.expired(at: now + .seconds(3)) { #expect(gone.insert(waiter).inserted) }
            #expect(gone.count == entered, "COURIER_TEST_SEED=\(random.seed)")
            #expect(refused > 0, "a turn a minute has one place")
            #expect(direct <= given, "COURIER_TEST_SEED=\(random.seed)")
            #expect(tokens.nextEvent == nil)
        }
    }
}
