// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import TestTools
import Testing
import Verification

@Suite struct RuleConcurrencyTests {
    @Test func `a thousand concurrent requests for one recipient on four workers make one send`() async throws {
        try await ClockedDatabase.with { clocked in
            let queues = (0..<4).map { worker in
                (0..<25).map { batch in
                    (0..<10).map { place in
                        let offset = Int64(batch * 10 + place)
                        let id = "r\(worker)-\(offset)"
                        return ModelRequest(id: id, tenant: RuleDesk.tenant, requestedAt: .test)
                            .record(partition: Int32(worker), offset: offset)
                    }
                }
            }
            let recorded = try await clocked.decide(queues, .desk(), at: .test)
            #expect(recorded.flatMap(\.value).map(\.reference.number) == [1])
            let reasons = try await clocked.database.texts(
                "SELECT DISTINCT convert_from(value, 'UTF8')::json ->> 'reason' FROM courier.unpublished"
            )
            #expect(reasons == ["send_pending"])
            #expect(try await clocked.database.count("SELECT max(sequence)::bigint FROM courier.unpublished") == 999)
            #expect(try await clocked.database.count("SELECT count(*) FROM courier.unpublished") == 999)
            #expect(try await clocked.database.count("SELECT count(*) FROM courier.send") == 1)
            #expect(try await clocked.database.count("SELECT count(*) FROM courier.verification") == 1)
        }
    }

    @Test(arguments: [2, 8])
    func `workers that race for a tenant's limit let through exactly its count`(workers: Int) async throws {
        let policy = Policy.desk { tenant in
            tenant.limits.perTenant = [
                RateLimit(count: 100, per: .seconds(10)), RateLimit(count: 130, per: .seconds(60)),
            ]
        }
        try await ClockedDatabase.with { clocked in
            for (round, expected) in [100, 30, 0].enumerated() {
                let now = Timestamp.test + .seconds(10 * round)
                try await clocked.set(now)
                let queues = (0..<workers).map { worker in
                    (0..<(40 / workers)).map { batch in
                        (0..<10).map { place in
                            let person = round * 1000 + worker * 400 / workers + batch * 10 + place
                            var request = ModelRequest(id: "r\(person)", tenant: RuleDesk.tenant, requestedAt: now)
                            request.number = "+4915\(400_000_000 + person)"
                            return request.record(partition: Int32(worker), offset: Int64(person))
                        }
                    }
                }
                let recorded = try await clocked.decide(queues, policy, at: now)
                #expect(recorded.reduce(0) { $0 + $1.value.count } == expected)
                #expect(recorded.reduce(0) { $0 + $1.outbox.count } == 400 - expected)
            }
        }
    }

    @Test(arguments: [1, 2, 4, 8])
    func `concurrent workers decide as if one after the other`(workers: Int) async throws {
        let seed = TestSeed("concurrent rules \(workers)").seed &+ UInt64(workers)
        try await ClockedDatabase.with { clocked in
            var crowd = Crowd(clocked, seed: seed)
            var expected: Set = ["quota_recipient", "quota_ip", "quota_tenant", "duplicate_request", "sent"]
            // The workers' speed decides if a send is still open at the person's next request.
            if workers == 1 { expected.formUnion(["resend_window", "send_pending"]) }
            // Six rounds nearly always meet every rule; a rare seed needs more.
            var rounds = 0
            while rounds < 6 || rounds < 30 && !expected.isSubset(of: crowd.reasons.keys) {
                try await crowd.round(workers: workers)
                rounds += 1
            }
            print("concurrent rules \(workers): \(crowd.reasons)")
            #expect(crowd.faults == [])
            #expect(crowd.gaps == 0)
            #expect(expected.subtracting(crowd.reasons.keys).isEmpty)
        }
    }

    @Test func `records that four workers take at once are answered once`() async throws {
        let seed = TestSeed("records everywhere").seed
        try await ClockedDatabase.with { clocked in
            var crowd = Crowd(clocked, seed: seed)
            for _ in 0..<4 { try await crowd.round(workers: 4, everywhere: true) }
            #expect(crowd.faults == [])
            #expect(crowd.gaps == 0)
        }
    }
}
