// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing
import Verification

/// Tests the order in which a route's providers are called.
@Suite struct RoutingChoiceTests {
    private static let paused = ProviderHealth.State(availability: .paused(for: .seconds(1)))

    private static func order(
        _ route: Route,
        _ health: [String: ProviderHealth.State] = [:],
        used: Set<String> = []
    ) -> [String] {
        var generator = SystemRandomNumberGenerator()
        return RouteChoice.order(route: route, health: health, used: used, using: &generator)
    }

    @Test
    func `a person who opted out at a provider gets a message by that one alone unless the policy says otherwise`() {
        let weighted = Route.weighted([.init(provider: "a", weight: 1), .init(provider: "b", weight: 99)])
        let region = Region("DE") ?? .unknown
        for route in [["a", "b"], weighted] {
            var routes = Routes(fallback: route)
            let names = { routes.route(for: .sms, region: region, optedOutAt: $0).providers }
            #expect(names(nil) == ["a", "b"])
            #expect(names("a") == ["a"] && names("b") == ["b"] && names("gone") == [])
            routes.onOptOut = .next
            #expect(routes.route(for: .sms, region: region, optedOutAt: "a") == route)
        }
    }

    @Test func `an ordered route keeps its order whatever the points, and paused ones come last`() {
        let route: Route = ["a", "b", "c"]
        #expect(Self.order(route) == ["a", "b", "c"])
        #expect(Self.order(route, ["a": .init(points: 0), "b": .init(points: 40)]) == ["a", "b", "c"])
        #expect(Self.order(route, ["a": Self.paused]) == ["b", "c", "a"])
        #expect(Self.order(route, ["a": .init(availability: .probe)]) == ["a", "b", "c"])
        #expect(Self.order(route, ["a": Self.paused, "b": Self.paused, "c": Self.paused]) == ["a", "b", "c"])
        #expect(Self.order([]).isEmpty)
    }

    @Test func `on a resend the provider of the first message comes behind a healthy one`() {
        let route: Route = ["a", "b", "c"]
        #expect(Self.order(route, used: ["a"]) == ["b", "c", "a"])
        #expect(Self.order(route, used: ["b"]) == ["a", "c", "b"])
        #expect(Self.order(route, used: ["a", "b", "c"]) == ["a", "b", "c"])
        #expect(Self.order(route, ["b": .init(points: 10)], used: ["a"]) == ["c", "a", "b"])
        #expect(Self.order(["a", "b"], ["b": Self.paused], used: ["a"]) == ["a", "b"])
        #expect(Self.order(["a"], used: ["a"]) == ["a"])
        #expect(Self.order(route, used: ["other"]) == ["a", "b", "c"])
    }

    @Test func `a worker's board keeps a route's order while all are well, and tells when none is`() {
        let now = ContinuousClock.now
        var board = HealthBoard(channels: ["a": .sms, "b": .sms])
        func order(used: Set<String> = []) -> [String] {
            var generator = SystemRandomNumberGenerator()
            return board.order(["a", "b"], used: used, at: now, using: &generator)
        }
        func throttle(_ name: String) {
            guard case .go(let call)? = board.begin(name, at: now) else { return }
            let answer = ProviderAnswer(.throttled, retryAfter: .seconds(9))
            #expect(board.end(call, of: name, answer, at: now) == .paused(for: .seconds(9)))
        }
        #expect(order() == ["a", "b"])
        #expect(order(used: ["a"]) == ["b", "a"])
        #expect(!board.hasPause(at: now))
        throttle("a")
        #expect(order() == ["b", "a"])
        #expect(board.hasPause(at: now))
        #expect(board.pause(of: ["a", "b"], at: now) == nil)
        throttle("b")
        #expect(board.pause(of: ["a", "b"], at: now) == .seconds(9))
        #expect(board.pause(of: ["a", "other"], at: now) == nil)
        #expect(board.pause(of: [], at: now) == nil)
        #expect(board.begin("other", at: now) == nil)
    }

    @Test func `that a provider is passed over is told once, and that it is back once it has answered`() {
        var now = ContinuousClock.now
        var board = HealthBoard(channels: ["a": .sms])
        var calls: [Breaker.Call] = []
        func begin(_ count: Int) {
            for _ in 0..<count {
                guard case .go(let call)? = board.begin("a", at: now) else { continue }
                calls.append(call)
            }
        }
        func end(_ answer: ProviderAnswer) -> [HealthBoard.Change?] {
            defer { calls = [] }
            return calls.map { board.end($0, of: "a", answer, at: now) }
        }
        begin(10)
        let throttled = ProviderAnswer(.throttled, errorCode: "429", retryAfter: .seconds(9))
        #expect(end(throttled) == [.paused(for: .seconds(9))] + Array(repeating: nil, count: 9))
        #expect(board.paused == ["a": "429"])
        now += .seconds(10)
        begin(2)
        #expect(calls.count == 1, "a probe")
        #expect(end(.busy) == [nil], "it has not left")
        begin(1)
        #expect(end(ProviderAnswer(.throttled, retryAfter: .seconds(9))) == [nil], "it was never back")
        now += .seconds(20)
        begin(1)
        #expect(end(ProviderAnswer(.accepted)) == [.resumed])
        #expect(board.paused.isEmpty)
        begin(1)
        #expect(end(ProviderAnswer(.accepted)) == [nil])
    }

    @Test func `an answer to an earlier call neither resumes a provider nor is its error code if it is good`() {
        var now = ContinuousClock.now
        var board = HealthBoard(channels: ["a": .sms])
        let calls = (0..<7).compactMap { _ -> Breaker.Call? in
            if case .go(let call)? = board.begin("a", at: now) { call } else { nil }
        }
        let failure = ProviderAnswer(.notSent, errorCode: "connection_refused")
        for call in calls[..<4] { #expect(board.end(call, of: "a", failure, at: now) == nil) }
        guard case .paused? = board.end(calls[4], of: "a", failure, at: now) else {
            Issue.record("no pause")
            return
        }
        now += .seconds(10)
        #expect(board.pause(of: "a", at: now) == nil, "the pause is over")
        #expect(board.end(calls[5], of: "a", ProviderAnswer(.unknown, errorCode: "timeout"), at: now) == nil)
        #expect(board.end(calls[6], of: "a", ProviderAnswer(.accepted), at: now) == nil)
        #expect(board.paused == ["a": "timeout"])
    }

    @Test func `a route is dead when none of its providers accepts messages`() throws {
        let germany = try #require(Region("DE"))
        let routes = [
            Routes(fallback: ["a", "b"], regions: [germany: ["b"]], email: ["mail"]),
            Routes(fallback: .weighted([.init(provider: "a", weight: 1), .init(provider: "c", weight: 1)])),
        ]
        let policy = Policy(
            version: "1",
            tenants: Dictionary(
                uniqueKeysWithValues: routes.enumerated().map { index, routes in
                    let regions = RegionPolicy(.allowlistOnly(allowed: [germany]))
                    return ("tenant-\(index)", TenantPolicy(appName: "Acme", regions: regions, routes: routes))
                }
            )
        )
        func dead(_ paused: [String: String]) -> DeadRoutes { DeadRoutes(of: policy, without: paused) }
        #expect(dead([:]).count == 0 && dead(["a": "x"]).causes.isEmpty && dead(["other": "x"]).count == 0)
        #expect(dead(["b": "timeout", "c": "x"]).causes == ["b (timeout)"], "the region's route alone")
        #expect(dead(["b": "timeout", "a": "503"]).causes == ["a (503)", "b (timeout)"])
        #expect(dead(["b": "timeout", "a": "503"]).count == 2)
        #expect(policy.alternatives(to: "a", without: ["a": "x"]) == 1)
        #expect(policy.alternatives(to: "a", without: ["a": "x", "c": "x"]) == 0)
        #expect(policy.alternatives(to: "b", without: ["b": "x"]) == 0)
        #expect(policy.alternatives(to: "other", without: ["other": "x"]) == nil)
    }

    @Test func `a weighted route draws by weight and points`() {
        var random = TestSeed("weighted routes")
        let route = Route.weighted([.init(provider: "a", weight: 70), .init(provider: "b", weight: 30)])
        func share(_ health: [String: ProviderHealth.State]) -> Double {
            var first = 0
            for _ in 0..<20_000 where RouteChoice.order(route: route, health: health, using: &random).first == "a" {
                first += 1
            }
            return Double(first) / 20_000
        }
        #expect(abs(share([:]) - 0.7) < 0.03)
        #expect(abs(share(["a": .init(points: 50)]) - 35.0 / 65) < 0.03)
        #expect(share(["a": .init(points: 0)]) == 0)
        #expect(share(["a": Self.paused]) == 0)
        #expect(share(["a": .init(points: 0), "b": .init(points: 0)]) == 1)
    }

    @Test func `every order names each provider of the route once`() {
        var random = TestSeed("orders")
        let names = ["a", "b", "c", "d"]
        for _ in 0..<5000 {
            let shares = names.map { Route.Share(provider: $0, weight: 1 + random.below(100)) }
            var health: [String: ProviderHealth.State] = [:]
            for name in names where random.chance(60) {
                health[name] = .init(
                    points: 10 * random.below(11),
                    availability: random.pick([.ready, .probe, .paused(for: .seconds(1))])
                )
            }
            let used = Set(names.filter { _ in random.chance(30) })
            let route = random.chance(50) ? Route.weighted(shares) : .ordered(names)
            let order = RouteChoice.order(route: route, health: health, used: used, using: &random)
            #expect(order.sorted() == names, "COURIER_TEST_SEED=\(random.seed)")
            let firstPaused = order.firstIndex { health[$0]?.isAvailable == false } ?? order.endIndex
            #expect(order[firstPaused...].allSatisfy { health[$0]?.isAvailable == false })
        }
    }
}
