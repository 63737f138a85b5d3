// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import Testing
import Verification

/// Tests the last refused and the first allowed moment, by the database's clock.
@Suite struct RuleEdgeTests {
    @Test func `each resend window ends to the microsecond, and the last send is the last`() async throws {
        let policy = Policy.desk { $0.code.validity = .seconds(3600) }
        try await RuleDesk.with(policy) { desk async throws in
            #expect(try await desk.ask() == "send 1 of code 1")
            for (index, window) in [60, 120, 300, 600].enumerated() {
                let free = desk.now + .seconds(window)
                try await desk.move(to: free - .edge)
                #expect(try await desk.ask() == "resend_window")
                try await desk.move(to: free)
                #expect(try await desk.ask() == "send \(index + 2) of code 1")
            }
            try await desk.move(to: desk.now + .seconds(600) - .edge)
            #expect(try await desk.ask() == "resend_window")
            try await desk.move(to: desk.now + .edge)
            #expect(try await desk.ask() == "max_sends")
        }
    }

    @Test func `a send that surely never left opens its window and gives the send back`() async throws {
        try await RuleDesk.with(.desk()) { desk async throws in
            #expect(try await desk.ask(settle: .failed(.providerUnavailable)) == "send 1 of code 1")
            #expect(try await desk.ask(settle: .expiredUnsent) == "send 1 of code 1")
            #expect(try await desk.ask(settle: .failed(.providerRefused)) == "send 1 of code 1")
            #expect(try await desk.ask(settle: .failed(.fraudBlocked)) == "send 1 of code 1")
            #expect(try await desk.ask() == "send 1 of code 1")
            try await desk.move(to: desk.now + .seconds(60))
            #expect(try await desk.ask(settle: .failed(.providerRefused)) == "send 2 of code 1")
            #expect(try await desk.ask(settle: nil) == "send 2 of code 1")
            try await desk.move(to: desk.now + .seconds(121))
            #expect(try await desk.ask() == "send_pending", "a send without an outcome keeps the window open")
        }
    }

    @Test func `limits against abuse count sends that never left`() async throws {
        let policy = Policy.desk { $0.limits.perRecipient = [RateLimit(count: 3, per: .seconds(10))] }
        try await RuleDesk.with(policy) { desk async throws in
            for _ in 0..<3 {
                #expect(try await desk.ask(settle: .failed(.providerRefused)) == "send 1 of code 1")
            }
            #expect(try await desk.ask() == "quota_recipient")
            try await desk.move(to: desk.now + .seconds(10))
            #expect(try await desk.ask() == "send 1 of code 1")
        }
    }

    @Test(arguments: [(Duration.zero, "send 2 of code 1"), (.edge, "send 2 of code 2")])
    func `the same code is sent while two minutes are left`(later: Duration, answer: String) async throws {
        try await RuleDesk.with(.desk()) { desk async throws in
            #expect(try await desk.ask() == "send 1 of code 1")
            _ = try await desk.guess(4, isRight: false)
            try await desk.move(to: desk.now + .seconds(480) + later)
            #expect(try await desk.ask() == answer)
            // A repeated code keeps its count of wrong guesses; a new code starts at zero.
            #expect(try await desk.guess(isRight: false) == [later == .zero ? "locked" : "incorrect"])
        }
    }

    @Test func `a verification ends at its expiry`() async throws {
        try await RuleDesk.with(.desk()) { desk async throws in
            #expect(try await desk.ask() == "send 1 of code 1")
            try await desk.move(to: .test + .seconds(600) - .edge)
            #expect(try await desk.guess(isRight: false) == ["incorrect"])
            #expect(try await desk.worker.ledger.sweepExpired().outbox.isEmpty)
            try await desk.move(to: .test + .seconds(600))
            #expect(try await desk.guess(isRight: true) == ["expired"])
            #expect(try await desk.worker.ledger.sweepExpired().outbox.count == 1)
            #expect(try await desk.worker.ledger.sweepExpired().outbox.isEmpty)
            #expect(try await desk.ask() == "send 1 of code 1")
            try await desk.move(to: .test + .seconds(1200) - .edge)
            #expect(try await desk.ask() == "send 2 of code 2")
        }
    }

    @Test func `a locked verification refuses until its expiry`() async throws {
        try await RuleDesk.with(.desk()) { desk async throws in
            #expect(try await desk.ask() == "send 1 of code 1")
            #expect(try await desk.guess(4, isRight: false) == Array(repeating: "incorrect", count: 4))
            #expect(try await desk.guess(isRight: false) == ["locked"])
            #expect(try await desk.guess(isRight: true) == ["locked"])
            #expect(try await desk.ask() == "locked")
            try await desk.move(to: .test + .seconds(600) - .edge)
            #expect(try await desk.ask() == "locked")
            try await desk.move(to: .test + .seconds(600))
            #expect(try await desk.ask() == "send 1 of code 1")
        }
    }

    @Test func `after the approval the person may begin again at once`() async throws {
        try await RuleDesk.with(.desk()) { desk async throws in
            #expect(try await desk.ask() == "send 1 of code 1")
            #expect(try await desk.guess(isRight: true) == ["approved"])
            #expect(try await desk.ask() == "send 1 of code 1")
        }
    }

    @Test func `a request is stale when it is older than five minutes`() async throws {
        try await RuleDesk.with(.desk()) { desk async throws in
            let now = desk.now
            #expect(try await desk.ask { $0.requestedAt = now - .seconds(300) - .edge } == "stale_request")
            #expect(try await desk.ask(settle: nil) { $0.requestedAt = now - .seconds(300) } == "send 1 of code 1")
        }
    }

    @Test func `nothing leaves at its deadline or after it`() async throws {
        try await RuleDesk.with(.desk()) { desk async throws in
            let now = desk.now
            #expect(try await desk.ask { $0.deadline = now } == "deadline")
            #expect(try await desk.ask(settle: nil) { $0.deadline = now + .seconds(10) } == "send 1 of code 1")
            let claim = try #require(desk.claim)
            try await desk.move(to: now + .seconds(10) - .edge)
            #expect(try await desk.worker.ledger.markDispatching([claim]) == [claim.claim])
            try await desk.move(to: now + .seconds(10))
            #expect(try await desk.worker.ledger.markDispatching([claim]).isEmpty)
        }
    }

    @Test func `a test number is one until its last moment`() async throws {
        let number = try #require(PhoneNumber(ModelLine.expiringTest.number))
        let policy = Policy.desk {
            $0.appVerification = .off
            $0.testNumbers = [TestNumber(number: number, code: "654321", until: .test + .seconds(60))]
        }
        try await RuleDesk.with(policy) { desk async throws in
            try await desk.move(to: .test + .seconds(60) - .edge)
            #expect(try await desk.ask { $0.number = number.e164 } == "send 1 of code 1")
            #expect(desk.claim?.code.digits == "654321")
            #expect(desk.claim?.isFictional == true)
            #expect(try await desk.ask { $0.number = number.e164 } == "send 2 of code 2", "it knows no window")
            try await desk.move(to: .test + .seconds(60))
            #expect(try await desk.ask { $0.number = number.e164 } == "test_number_only")
        }
    }
}
