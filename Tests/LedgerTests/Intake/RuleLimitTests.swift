// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import Testing
import Verification

/// Tests the limits at their edges, by the database's clock, and the cleanup of their state.
@Suite struct RuleLimitTests {
    struct Edge: Sendable, CustomTestStringConvertible {
        let reason: String
        let count: Int
        let seconds: Int

        var limit: RateLimit { RateLimit(count: count, per: .seconds(seconds)) }
        var testDescription: String { "\(reason) \(limit)" }

        /// The default limits, and smaller ones.
        static let all = [
            Edge(reason: "quota_recipient", count: 2, seconds: 10),
            Edge(reason: "quota_recipient", count: 10, seconds: 3600),
            Edge(reason: "quota_recipient", count: 20, seconds: 86_400),
            Edge(reason: "quota_ip", count: 50, seconds: 60),
            Edge(reason: "quota_ip", count: 500, seconds: 3600), Edge(reason: "quota_tenant", count: 1000, seconds: 60),
            Edge(reason: "quota_ip", count: 1, seconds: 1), Edge(reason: "quota_tenant", count: 1, seconds: 1),
            Edge(reason: "quota_tenant", count: 7, seconds: 3600),
            Edge(reason: "quota_subject", count: 5, seconds: 60), Edge(reason: "quota_device", count: 3, seconds: 60),
        ]

        /// A policy with this limit only, and enough sends without a resend window that no other rule applies.
        var policy: Policy {
            .desk { tenant in
                tenant.resend.windows = Array(repeating: .zero, count: 1100)
                tenant.code.validity = .seconds(200_000)
                switch reason {
                case "quota_recipient": tenant.limits.perRecipient = [limit]
                case "quota_ip": tenant.limits.perIP = [limit]
                case "quota_subject": tenant.limits.perSubject = [limit]
                case "quota_device": tenant.limits.perDevice = [limit]
                default: tenant.limits.perTenant = [limit]
                }
            }
        }
    }

    @Test(arguments: Edge.all)
    func `a limit lets through exactly its count, and forgets a send after exactly its span`(edge: Edge) async throws {
        try await RuleDesk.with(edge.policy) { desk async throws in
            #expect(try await admitted(1, edge, &desk) == 1)
            try await desk.move(to: .test + .milliseconds(500))
            #expect(try await admitted(edge.count + 1, edge, &desk) == edge.count - 1)
            try await desk.move(to: .test + edge.limit.per - .edge)
            #expect(try await admitted(1, edge, &desk) == 0)
            try await desk.move(to: .test + edge.limit.per)
            #expect(try await admitted(2, edge, &desk) == 1)
            try await desk.move(to: .test + edge.limit.per + .milliseconds(500) - .edge)
            #expect(try await admitted(1, edge, &desk) == 0)
            try await desk.move(to: .test + edge.limit.per + .milliseconds(500))
            #expect(try await admitted(edge.count + 1, edge, &desk) == edge.count - 1)
        }
    }

    /// Number of admitted requests; all others must be refused with the edge's reason.
    private func admitted(_ count: Int, _ edge: Edge, _ desk: inout RuleDesk) async throws -> Int {
        var answers: [String] = []
        if edge.reason == "quota_recipient" {
            for _ in 0..<count { answers.append(try await desk.ask()) }
        } else {
            let requests = (0..<count).map { person in
                desk.request {
                    $0.number = "+4915\(200_000_000 + person)"
                    $0.ip = "192.0.2.1"
                    $0.subject = "account"
                    $0.device = "device"
                }
            }
            for start in stride(from: 0, to: count, by: 500) {
                answers += try await desk.answers(Array(requests[start..<min(start + 500, count)]))
            }
        }
        let sends = answers.count { $0.hasPrefix("send ") }
        #expect(answers.count == count)
        #expect(answers.count { $0 == edge.reason } == count - sends)
        return sends
    }

    @Test func `only what is let through counts, and for another tenant, number or address nothing does`() async throws
    {
        let limits = LimitPolicy(
            perRecipient: [RateLimit(count: 1, per: .seconds(3600))],
            perIP: [RateLimit(count: 2, per: .seconds(3600))],
            perTenant: [RateLimit(count: 4, per: .seconds(3600))]
        )
        let policy = Policy.desk { tenant in
            tenant.limits = limits
            tenant.voip = .refuse
        }
        try await RuleDesk.with(policy) { desk async throws in
            #expect(try await desk.ask { $0.ip = "192.0.2.1" } == "send 1 of code 1")
            #expect(try await desk.ask { $0.ip = "192.0.2.1" } == "resend_window")
            #expect(
                try await desk.ask {
                    $0.ip = "192.0.2.1"
                    $0.purpose = .signUp
                } == "quota_recipient"
            )
            let odd = try await desk.ask {
                $0.ip = "192.0.2.1"
                $0.number = "+44560000001"
            }
            #expect(odd == "number_type_not_allowed")
            for (number, ip, answer) in [
                (2, "192.0.2.1", "send 1 of code 1"), (3, "::ffff:192.0.2.1", "quota_ip"),
                (3, "192.0.2.2", "send 1 of code 1"), (4, "192.0.2.3", "send 1 of code 1"),
                (5, "192.0.2.4", "quota_tenant"),
            ] {
                let asked = try await desk.ask {
                    $0.number = "+491510000000\(number)"
                    $0.ip = ip
                }
                #expect(asked == answer)
            }
        }
    }

    @Test func `a subject and a device are counted apart, in all their requests and in no other tenant's`() async throws
    {
        let once = [RateLimit(count: 1, per: .seconds(3600))]
        let policy = Policy.desk { tenant in
            tenant.limits = LimitPolicy(perRecipient: [], perIP: [], perSubject: once, perDevice: once, perTenant: [])
        }
        try await RuleDesk.with(policy) { desk async throws in
            for (person, subject, device, answer) in [
                (1, "one", "d1", "send 1 of code 1"), (2, "one", "d2", "quota_subject"),
                // A refused request counts nowhere, so this device still has its place.
                (3, "two", "d2", "send 1 of code 1"), (4, "three", "d1", "quota_device"),
                // The same text is not the same window in the other scope.
                (5, "d1", "one", "send 1 of code 1"), (6, nil, nil, "send 1 of code 1"),
                (7, nil, "", "send 1 of code 1"), (8, "", "", "send 1 of code 1"),
            ] {
                let asked = try await desk.ask {
                    $0.number = "+491510000000\(person)"
                    $0.subject = subject
                    $0.device = device
                }
                #expect(asked == answer, "\(person)")
            }
            try await desk.move(to: .test + .seconds(3600))
            let later = try await desk.ask {
                $0.number = "+4915100000009"
                $0.subject = "one"
                $0.device = "d1"
            }
            #expect(later == "send 1 of code 1")
        }
    }

    @Test func `a limit that was lowered holds up no other tenant`() async throws {
        func policy(_ count: Int) -> Policy {
            func tenant(_ count: Int) -> TenantPolicy? {
                let policy = Policy.desk { $0.limits.perTenant = [RateLimit(count: count, per: .seconds(3600))] }
                return policy.tenants.values.first
            }
            let tenants = ["pumped": tenant(count), "other": tenant(10)]
            return Policy(version: "desk.\(count)", tenants: tenants.compactMapValues(\.self))
        }
        func records(_ tenant: String, _ range: Range<Int64>, at time: Timestamp) -> [InboundRecord] {
            range.map { offset in
                .request(
                    id: "r\(offset)",
                    phoneNumber: "+4915123450\(100 + offset)",
                    offset: offset,
                    at: time,
                    more: #","tenant":"\#(tenant)""#
                )
            }
        }
        try await LedgerDatabase.with { database in
            let before = LedgerWorker(database.ledger(), policy: policy(3))
            #expect(try await before.intake(records("pumped", 0..<3, at: try await before.now())).value.count == 3)
            let after = LedgerWorker(database.ledger(), policy: policy(2))
            let now = try await after.now()
            let taken = try await after.intake(records("pumped", 3..<4, at: now) + records("other", 4..<5, at: now))
            #expect(taken.value.map(\.tenant) == ["other"])
            #expect(taken.outbox.map { $0.json?.text("reason") } == ["quota_tenant"])
        }
    }

    @Test func `a restart and a changed policy go on counting`() async throws {
        func policy(_ count: Int) -> Policy {
            .desk(version: "desk.\(count)") { tenant in
                tenant.resend.windows = Array(repeating: .zero, count: 20)
                let limit = RateLimit(count: count, per: .seconds(3600))
                tenant.limits = LimitPolicy(
                    perRecipient: [limit],
                    perIP: [limit],
                    perTenant: [RateLimit(count: 2 * count, per: .seconds(3600))]
                )
            }
        }
        try await ClockedDatabase.with { clocked in
            for (allowed, admitted) in [(3, 3), (3, 0), (5, 2), (2, 0), (6, 1)] {
                try await clocked.withWorker(policy(allowed)) { worker in
                    var desk = RuleDesk(clocked, policy(allowed))
                    desk.worker = worker
                    for people in 0..<2 {
                        var sends = 0
                        for round in 0..<(admitted + 1) {
                            let answer = try await desk.ask {
                                $0.id = "\(allowed)-\(admitted)-\(people)-\(round)"
                                $0.number = "+491510000000\(people)"
                                $0.ip = "192.0.2.\(people)"
                            }
                            if answer.hasPrefix("send ") { sends += 1 } else { #expect(answer == "quota_recipient") }
                        }
                        #expect(sends == admitted)
                    }
                }
            }
        }
    }

    @Test func `a batch of five hundred is decided near a tenant's limit as well as far from it`() async throws {
        let policy = Policy.desk { $0.limits.perTenant = [RateLimit(count: 1000, per: .seconds(60))] }
        try await RuleDesk.with(policy) { desk async throws in
            func batch(_ round: Int, _ desk: inout RuleDesk) async throws -> (sends: Int, milliseconds: Int64) {
                let requests = (0..<500).map { person in
                    desk.request { $0.number = "+4915\(300_000_000 + round * 500 + person)" }
                }
                let clock = ContinuousClock()
                let start = clock.now
                let answers = try await desk.answers(requests, settle: nil)
                return (answers.count { $0.hasPrefix("send ") }, (clock.now - start).microseconds / 1000)
            }
            _ = try await batch(0, &desk)
            try await desk.move(to: desk.now + .seconds(60))
            let far = try await batch(1, &desk)
            try await desk.move(to: desk.now + .seconds(1))
            _ = try await desk.ask { $0.number = "+4915900000000" }
            let near = try await batch(2, &desk)
            let over = try await batch(3, &desk)
            #expect([far.sends, near.sends, over.sends] == [500, 499, 0])
            print(
                "500 requests: \(far.milliseconds) ms far from the tenant's limit, \(near.milliseconds) ms across it,",
                "\(over.milliseconds) ms beyond it"
            )
        }
    }
}
