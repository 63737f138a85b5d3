// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing

@testable import Verification

@Suite struct BrakeTurnsTests {
    /// The seconds at which probes of one scope pass, if there is a request every second.
    private func seconds(_ share: Double, until end: Int, perMinute: Int = 100) -> [Int] {
        var turns = BrakeTurns()
        turns.setShare(share)
        let turn = BrakeTurn(tenant: "default", key: BrakeKey(.prefix, 1))
        return (0..<end).filter { second in
            let now = Timestamp.test + .seconds(second)
            guard turns.isFree(turn, perMinute: perMinute, at: now) else { return false }
            turns.take(turn, at: now)
            return true
        }
    }

    @Test func `a scope has six probes in 90 s, five seconds apart`() {
        #expect(seconds(1, until: 96) == [0, 5, 10, 15, 20, 25, 90, 95])
    }

    @Test func `a worker with a part of the partitions has that part of the probes, and one at once`() {
        #expect(seconds(0.5, until: 95) == [0, 10, 20, 90])
        #expect(seconds(0.1, until: 95) == [0, 90])
    }

    @Test func `a tenant's scopes share the probes of a minute`() {
        var turns = BrakeTurns()
        let now = Timestamp.test
        func isFree(_ key: Int64, _ tenant: String = "default", perMinute: Int = 10, at time: Timestamp) -> Bool {
            turns.isFree(BrakeTurn(tenant: tenant, key: BrakeKey(.ip, key)), perMinute: perMinute, at: time)
        }
        for key in 0..<10 {
            #expect(isFree(Int64(key), at: now))
            turns.take(BrakeTurn(tenant: "default", key: BrakeKey(.ip, Int64(key))), at: now)
        }
        #expect(!isFree(10, at: now + .seconds(59)))
        #expect(isFree(10, "other", at: now))
        #expect(isFree(10, at: now + .seconds(60)))
    }

    @Test func `refusals are summed by scope until they are written, and a new board keeps the turns`() {
        let source = BrakeSource()
        let key = BrakeKey(.range, 3)
        let turn = BrakeTurn(tenant: "default", key: key)
        var effects = BrakeEffects()
        effects.stopped = [
            BrakeRefusal(tenant: "default", key: key, at: .test + .seconds(2)),
            BrakeRefusal(tenant: "default", key: key, at: .test),
            BrakeRefusal(tenant: "other", key: key, at: .test),
        ]
        effects.probes = [BrakeEffects.Probe(turn: turn, at: .test)]
        source.note(effects)
        source.replace(with: .empty)
        #expect(!source.current.turns.isFree(turn, perMinute: 10, at: .test + .seconds(4)))
        let taken = source.takeRefusals().sorted { $0.tenant < $1.tenant }
        #expect(taken.map(\.count) == [2, 1])
        #expect(taken.first?.at == .test + .seconds(2))
        #expect(source.takeRefusals().isEmpty)
    }
}
