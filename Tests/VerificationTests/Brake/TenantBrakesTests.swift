// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing

@testable import Verification

@Suite struct TenantBrakesTests {
    private static let policy = Policy(
        version: "test",
        tenants: Dictionary(
            uniqueKeysWithValues: ["a", "b", "off"].compactMap { name in
                Policy.test { if name == "off" { $0.brake.mode = .off } }.tenants["default"].map { (name, $0) }
            }
        )
    )

    private static func samples(_ count: Int, from: Timestamp, key: (Int) -> Int64) -> [ConversionSample] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { number in
            ConversionSample(
                id: .version7(at: from + .milliseconds(number), using: &random),
                region: "DE",
                client: key(number),
                prefix: key(number),
                range: key(number),
                isConfirmed: false,
                outcome: .open
            )
        }
    }

    /// Each verification of the attacked tenant has three keys that no other one has.
    @Test func `an attack with only different keys fills no more than its limit, at no other tenant's cost`() {
        var brakes = TenantBrakes(maximumSize: 4000)
        brakes.follow(Self.policy, at: .test)
        brakes.read(["b": Self.samples(100, from: .test) { _ in 1 }], age: nil, countedFrom: .test)
        let other = brakes.size
        for slice in 0..<40 {
            let attack = Self.samples(500, from: .test + .seconds(2 * slice)) { Int64(slice * 500 + $0) }
            brakes.read(["a": attack], age: nil, countedFrom: .test)
            #expect(brakes.size <= 4000)
        }
        #expect(brakes.size > 3980)
        // The attacked tenant has all the room that the other one leaves.
        brakes.follow(Policy(version: "test", tenants: Self.policy.tenants.filter { $0.key == "b" }), at: .test)
        #expect(brakes.size == other)
    }

    @Test func `a tenant without a brake, or that the policy has lost, keeps nothing`() {
        var brakes = TenantBrakes()
        brakes.follow(Self.policy, at: .test)
        let rows = Self.samples(10, from: .test) { _ in 1 }
        brakes.read(["off": rows, "unknown": rows], age: 5, countedFrom: .test)
        #expect(brakes.size == 0 && brakes.counts.isEmpty)
        brakes.read(["a": rows], age: 5, countedFrom: .test)
        #expect(brakes.size == 22)
        brakes.follow(Policy(version: "test", tenants: [:]), at: .test)
        #expect(brakes.size == 0)
    }

    @Test func `beyond the most blocks only regions trip`() {
        let blocks = (0..<Int64(Brake.maximumBlocks)).map { number in
            BrakeBlock(
                BrakeKey(.ip, number),
                region: "DE",
                state: .blocked,
                beganAt: .test,
                changesAt: .test + .seconds(43_200),
                length: .seconds(43_200),
                trips: 1,
                shortfall: Shortfall(expected: 10, observed: 0),
                refusedAt: .test
            )
        }
        let cases: [(count: Int, isOne: Bool, scope: BrakeScope?)] = [
            (blocks.count - 1, true, .ip), (blocks.count, true, nil), (blocks.count, false, .region),
        ]
        for (count, isOne, scope) in cases {
            var brakes = TenantBrakes(
                blocks.prefix(count).map { TenantBlock(tenant: "a", block: $0, isAsleep: false) }
            )
            brakes.follow(Self.policy, at: .test)
            let rows = Self.samples(60, from: .test) { isOne ? -1 : Int64(-1 - $0) }
            brakes.read(["a": rows], age: 5, countedFrom: .test)
            let changed = brakes.judge(at: .test + .seconds(600)).changed
            #expect(changed.first { $0.block.beganAt > .test }?.block.key.scope == scope)
        }
    }

    @Test func `a scope or a region that is off trips nothing, and hides nothing from wider scopes`() throws {
        let germany = try #require(Region("DE"))
        let cases: [(change: (inout BrakePolicy) -> Void, scopes: Set<BrakeScope>)] = [
            ({ _ in }, [.ip]), ({ $0.scopes[.ip] = .off }, [.prefix]),
            ({ $0.regions[germany] = .off }, []),
            ({ ($0.scopes[.ip], $0.scopes[.prefix], $0.scopes[.range]) = (.off, .off, .off) }, [.region]),
        ]
        for (change, scopes) in cases {
            var brakes = TenantBrakes()
            let policy = Policy.test { change(&$0.brake) }
            brakes.follow(policy, at: .test)
            brakes.read(["default": Self.samples(60, from: .test) { _ in 1 }], age: 5, countedFrom: .test)
            let changed = brakes.judge(at: .test + .seconds(600)).changed
            #expect(Set(changed.map(\.block.key.scope)) == scopes)
        }
    }

    private static func verification(_ number: Int, of region: String) -> ConversionSample {
        var random = SystemRandomNumberGenerator()
        return ConversionSample(
            id: .version7(at: .test + .milliseconds(number), using: &random),
            region: region,
            client: 1,
            prefix: Int64(number),
            range: Int64(number),
            isConfirmed: false,
            outcome: .open
        )
    }

    @Test func `an address is judged by its requests to regions that are not off, whichever came first`() throws {
        let france = try #require(Region("FR"))
        let policy = Policy.test { $0.brake.regions[france] = .off }
        for (regions, keys) in [(["FR", "US"], [BrakeKey(.ip, 1)]), (["FR", "FR"], [])] {
            var brakes = TenantBrakes()
            brakes.follow(policy, at: .test)
            let rows = (0..<80).map { Self.verification($0, of: $0 == 0 ? regions[0] : regions[1]) }
            brakes.read(["default": rows], age: 5, countedFrom: .test)
            #expect(brakes.judge(at: .test + .seconds(600)).changed.map(\.block.key) == keys)
        }
        // Switched off while its evidence is in memory, it trips no more.
        var brakes = TenantBrakes()
        brakes.follow(policy, at: .test)
        brakes.read(["default": (0..<80).map { Self.verification($0, of: "US") }], age: 5, countedFrom: .test)
        brakes.follow(.test { $0.brake.scopes = [.ip: .off, .region: .off] }, at: .test)
        #expect(brakes.judge(at: .test + .seconds(600)).changed.isEmpty)
    }

    @Test func `an attack in a region that is off puts no tenant to sleep`() throws {
        let states = try #require(Region("US"))
        func counts(
            _ region: String,
            _ verifications: Int,
            approved: Int
        ) -> [ConversionCounts.Group: ConversionCounts.Count] {
            let hour = (Timestamp.test - .seconds(7200)).hour
            let group = ConversionCounts.Group(
                hour: hour,
                tenant: "default",
                region: region,
                provider: "",
                isConfirmed: false
            )
            let within = [Int](repeating: approved, count: 6)
            return [group: .init(verifications: verifications, approved: approved, sends: 1, within: within)]
        }
        let all = counts("DE", 500, approved: 350).merging(counts("US", 4500, approved: 0)) { $1 }
        for isOff in [true, false] {
            var brakes = TenantBrakes()
            brakes.follow(.test { if isOff { $0.brake.regions[states] = .off } }, at: .test)
            #expect(brakes.needsHistory)
            brakes.learn(ConversionCounts(all), at: .test)
            #expect(!brakes.needsHistory)
            brakes.read(["default": Self.samples(60, from: .test) { _ in 1 }], age: 5, countedFrom: .test)
            let changed = brakes.judge(at: .test + .seconds(600)).changed
            #expect(!changed.isEmpty && changed.allSatisfy { $0.isAsleep == !isOff })
        }
    }

    @Test func `new rules of the policy are those of the next block`() {
        var brakes = TenantBrakes()
        brakes.follow(Self.policy, at: .test)
        brakes.follow(
            Policy(
                version: "test.2",
                tenants: Self.policy.tenants.mapValues { tenant in
                    var tenant = tenant
                    tenant.brake.rules.firstBlock = .seconds(60)
                    return tenant
                }
            ),
            at: .test
        )
        brakes.read(["a": Self.samples(30, from: .test) { _ in 1 }], age: 5, countedFrom: .test)
        #expect(brakes.judge(at: .test + .seconds(600)).changed.first?.block.length == .seconds(60))
    }

    @Test func `a brake that is switched off ends its blocks, and begins with none when it is on again`() {
        var brakes = TenantBrakes()
        brakes.follow(Self.policy, at: .test)
        brakes.read(["a": Self.samples(30, from: .test) { _ in 1 }], age: 5, countedFrom: .test)
        let tripped = brakes.judge(at: .test + .seconds(600)).changed
        #expect(!tripped.isEmpty)
        let off = .test + .seconds(700)
        let ended = brakes.follow(Policy(version: "off", tenants: [:]), at: off)
        #expect(Set(ended.map(\.turn)) == Set(tripped.map(\.turn)))
        #expect(ended.allSatisfy { $0.block.state == .ended && $0.block.changesAt == off })
        #expect(brakes.follow(Self.policy, at: off).isEmpty && brakes.size == 0)
        #expect(brakes.judge(at: off + .seconds(2)).changed.isEmpty)
    }
}
