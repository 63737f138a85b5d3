// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

@Suite struct ShardTests {
    @Test func `an id that names a shard keeps its version, its variant and its time`() {
        var seed = TestSeed("shard ids")
        for shard in UInt8.min ... .max {
            let id = UUIDValue.version7(at: .test, using: &seed)
            let placed = id.placed(on: shard)
            #expect(placed.shard == shard)
            #expect(placed.version7Time == .test)
            #expect(placed.bytes.prefix(15) == id.bytes.prefix(15))
            #expect(placed.bytes[8] >> 6 == 0b10)
        }
    }

    @Test func `a recipient's requests hash alike, whatever their id, their purpose and the policy`() {
        let allowed = Screener(policy: .test(), keys: .test, numbers: FixedNumbers())
        let refused = Screener(policy: .test(), keys: .test, numbers: FixedNumbers(region: "RU"))
        let hashes = [
            allowed.candidate(for: .request(id: "r1", at: .test), now: .test),
            allowed.candidate(for: .request(id: "r2", purpose: "sign_up", offset: 9, at: .test), now: .test),
            refused.candidate(for: .request(id: "r3", at: .test), now: .test),
            refused.candidate(for: .request(id: "r4", at: .test, more: #","tenant":"nobody""#), now: .test),
        ].map { $0.shardHash(keys: .test) }
        #expect(Set(hashes).count == 1)
        let other = allowed.candidate(for: .request(id: "r1", phoneNumber: "+4915123456780", at: .test), now: .test)
        #expect(other.shardHash(keys: .test) != hashes[0])
    }

    @Test func `without a recipient the request id decides, and without one the record's place`() {
        let screener = Screener(policy: .test(), keys: .test, numbers: FixedNumbers())
        func hash(_ json: String, offset: Int64) -> UInt64 {
            screener.candidate(for: .raw(json, offset: offset, at: .test), now: .test).shardHash(keys: .test)
        }
        let invalid = #"{"requestId":"r1","purpose":"nap"}"#
        #expect(hash(invalid, offset: 1) == hash(invalid, offset: 2))
        #expect(hash(invalid, offset: 1) != hash(#"{"requestId":"r2","purpose":"nap"}"#, offset: 1))
        #expect(hash("{", offset: 1) == hash("{", offset: 1))
        #expect(hash("{", offset: 1) != hash("{", offset: 2))
    }

    @Test func `shards share the limits of IP addresses and tenants, and never come to more`() throws {
        let limits = LimitPolicy(
            perRecipient: [RateLimit(count: 2, per: .seconds(10))],
            perIP: [RateLimit(count: 50, per: .seconds(60)), RateLimit(count: 2, per: .seconds(1))],
            perTenant: [RateLimit(count: 1000, per: .seconds(60))]
        )
        let policy = Policy.test { $0.limits = limits }
        #expect(policy.divided(among: 1) == policy)
        let shared = try #require(policy.divided(among: 3).tenants["default"]).limits
        #expect(shared.perRecipient == limits.perRecipient)
        #expect(shared.perIP.map(\.count) == [16, 1])
        #expect(shared.perTenant.map(\.count) == [333])
        #expect(shared.perIP.map(\.per) == limits.perIP.map(\.per))
    }
}
