// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@testable import Administration
@testable import Ledger

/// Tests workers whose clocks are wrong, in a real database.
@Suite struct ClockTests {
    @Test(arguments: [Duration.seconds(-600), .seconds(600)])
    func `a worker whose clock is off by ten minutes sends what is valid`(error: Duration) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let screener = Screener(policy: worker.policy, keys: worker.keys, numbers: FixedNumbers())
            let now = try await worker.now()
            let stated = #","requestedAt":"\#(now.rfc3339)""#
            let candidates = [
                screener.candidate(for: .request(id: "r1", at: now), now: now + error),
                screener.candidate(
                    for: .request(id: "r2", phoneNumber: "+4915100000002", offset: 1, at: now, more: stated),
                    now: now + error
                ),
            ]
            #expect(try await worker.intake(candidates: candidates).value.count == 2)
        }
    }

    @Test func `a worker whose clock is off by a day does not start`() async throws {
        try await LedgerDatabase.with { database in
            let now = try await LedgerWorker(database.ledger()).now()
            try await ClockCheck.run(database.pool) { now }
            for (error, words) in [(Duration.seconds(86_400), "24 hours ahead of"), (.seconds(-86_400), "behind")] {
                do {
                    try await ClockCheck.run(database.pool) { now + error }
                    Issue.record("it is taken for right")
                } catch let apart as ClockCheck.Apart {
                    #expect("\(apart)".contains(words))
                    #expect(apart.lead.components.seconds.magnitude > 86_300)
                }
            }
        }
    }

    @Test func `a slow answer makes no clock wrong, and hides no more than its own time`() {
        func lead(_ before: Double, _ after: Double) -> Duration {
            let database = Timestamp.test
            return ClockCheck.lead(
                before: database + .seconds(before),
                database: database,
                after: database + .seconds(after)
            )
        }
        #expect(lead(-90, 0) == .zero)
        #expect(lead(0, 90) == .zero)
        #expect(lead(-300, 300) == .zero)
        #expect(lead(70, 160) == .seconds(70))
        #expect(lead(-160, -70) == .seconds(-70))
        // The clock was set back between the query and its answer.
        #expect(lead(100, -100) == .zero)
        #expect(lead(200, 70) == .seconds(70))
    }

    @Test(arguments: [Duration.seconds(-600), .seconds(600)])
    func `a test number that has just ended counts in the limits of an ordinary one`(error: Duration) async throws {
        try await LedgerDatabase.with { database in
            let now = try await LedgerWorker(database.ledger()).now()
            let number = try #require(PhoneNumber("+4915123456789"))
            let policy = Policy.test { tenant in
                tenant.testNumbers = [TestNumber(number: number, code: "654321", until: now)]
                tenant.limits = LimitPolicy(perRecipient: [RateLimit(count: 1, per: .seconds(3600))])
                tenant.resend.windows = [.zero]
            }
            let worker = LedgerWorker(database.ledger(), policy: policy)
            let screener = Screener(policy: policy, keys: worker.keys, numbers: FixedNumbers())
            func ask(_ id: String, _ offset: Int64) async throws -> Recorded<[ClaimedSend]> {
                let record = InboundRecord.request(id: id, offset: offset, at: now)
                return try await worker.intake(candidates: [screener.candidate(for: record, now: now + error)])
            }
            let first = try #require(try await ask("r1", 0).value.first)
            #expect(!first.isFictional)
            try await worker.publish(try await worker.settle([first], .sent))
            #expect(try await ask("r2", 1).outbox.first?.json?.text("reason") == "quota_recipient")
        }
    }
}
