// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

/// Tests the sweep of sends whose lease or retry delay has ended.
@Suite struct DecisionSweepTests {
    /// One send of a live verification, in the state in which its worker left it.
    private func tables(_ state: DueSend.State) throws -> (tables: DecisionTables, claim: ClaimedSend) {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.request(id: "r1", at: tables.now)).sends.first)
        switch state {
        case .claimed: break
        case .dispatching: tables.markDispatching(claim.id)
        case .pending: tables.settle(claim, .retry(after: .seconds(1)))
        }
        tables.now = tables.now + .seconds(31)
        return (tables, claim)
    }

    @Test(arguments: [DueSend.State.claimed, .pending])
    func `what surely never left is claimed again with a higher fence`(state: DueSend.State) throws {
        var (tables, claim) = try tables(state)
        let swept = tables.sweep()
        let again = try #require(swept.claims.first)

        #expect(swept.claims.count == 1)
        #expect(swept.outbox.isEmpty)
        #expect(again.id == claim.id)
        #expect(again.reference == claim.reference.reclaimed)
        #expect(again.reference.fence == claim.reference.fence + 1)
        #expect(again.code == claim.code)
        #expect(again.recipient == claim.recipient)
        #expect(again.rendering == claim.rendering)
        #expect(again.deadline == claim.deadline)
        #expect(again.validityLeft == .seconds(569))
        #expect(again.attempts == (state == .pending ? 1 : 0))
        #expect(tables.settle(claim, .sent).outbox.isEmpty, "the claim before is lost")
        #expect(tables.settle(again, .sent).outbox.count == 1)
    }

    @Test func `what may have left is unknown and never sent again`() throws {
        var (tables, _) = try tables(.dispatching)
        let swept = tables.sweep()
        let event = try #require(swept.outbox.first.flatMap(EventsView.init))
        #expect(swept.claims.isEmpty)
        #expect(event.status == "unknown")
        #expect(event.reason == "worker_lost")
        #expect(tables.sends.isEmpty)
        #expect(tables.sweep().outbox.isEmpty)
    }

    @Test(arguments: [DueSend.State.claimed, .pending, .dispatching], [Duration.microseconds(-1), .zero])
    func `after its deadline nothing is handed over`(state: DueSend.State, late: Duration) throws {
        var (tables, claim) = try tables(state)
        tables.now = claim.deadline + late
        let swept = tables.sweep()
        let status = swept.outbox.first.flatMap(EventsView.init)?.status
        if state == .dispatching {
            #expect(status == "unknown")
        } else {
            #expect(swept.claims.count == (late == .zero ? 0 : 1))
            #expect(status == (late == .zero ? "expired_unsent" : nil))
        }
    }

    @Test(arguments: [StoredVerification.State.approved, .locked, .expired, .cancelled])
    func `a verification that has ended needs no message`(state: StoredVerification.State) throws {
        var (tables, claim) = try tables(.claimed)
        tables.verifications[claim.reference.verificationID]?.state = state
        let swept = tables.sweep()
        #expect(swept.claims.isEmpty)
        #expect(swept.outbox.first.flatMap(EventsView.init)?.status == "expired_unsent")
        #expect(tables.verifications[claim.reference.verificationID]?.state == state)
    }

    @Test func `no more is claimed than there is room for and the rest stays due`() throws {
        var tables = DecisionTables()
        for index in 0..<5 {
            let number = "+491512345678\(index)"
            tables.intake(.request(id: "r\(index)", phoneNumber: number, offset: Int64(index), at: tables.now))
        }
        tables.now = tables.now + .seconds(31)
        #expect(tables.sweep(capacity: 0).claims.isEmpty)
        let first = tables.sweep(capacity: 2).claims.map(\.id)
        let second = tables.sweep(capacity: 9).claims.map(\.id)
        #expect(first.count == 2)
        #expect(second.count == 3)
        #expect(Set(first + second).count == 5)
        #expect(tables.sweep().claims.isEmpty)
    }

    @Test func `what needs no room is settled without any`() throws {
        var (tables, claim) = try tables(.claimed)
        tables.now = claim.deadline
        #expect(tables.sweep(capacity: 0).outbox.count == 1)
    }

    static let lostKeys: [CodeKeys] = [
        CodeKeys(code: .test(1), hash: .test(2), fingerprint: .test(3), seal: .test(4, id: 2)),
        CodeKeys(code: .test(1), hash: .test(2), fingerprint: .test(3), seal: .test(9)),
        CodeKeys(code: .test(1, id: 2), hash: .test(2), fingerprint: .test(3), seal: .test(4)),
    ]

    @Test(arguments: lostKeys.indices)
    func `a send whose key is gone fails and costs the person nothing`(index: Int) throws {
        var (tables, claim) = try tables(.claimed)
        tables.keys = Self.lostKeys[index]
        let swept = tables.sweep()
        let event = try #require(swept.outbox.first.flatMap(EventsView.init))
        #expect(swept.claims.isEmpty)
        #expect(event.status == "failed")
        #expect(event.reason == "provider_unavailable")
        #expect(tables.verifications[claim.reference.verificationID]?.sendsUsed == 0)
    }

    static let otherKeys: [CodeKeys] = [
        CodeKeys(code: .test(9), hash: .test(2), fingerprint: .test(3), seal: .test(4)),
        CodeKeys(code: .test(1), hash: .test(9), fingerprint: .test(3), seal: .test(4)),
    ]

    @Test(arguments: otherKeys.indices, [DueSend.State.claimed, .pending, .dispatching])
    func `a send whose code is not the one that was hashed does not leave, and is told`(
        index: Int,
        state: DueSend.State
    ) throws {
        let (tables, claim) = try tables(state)
        let held = try #require(tables.sends[claim.id])
        let swept = SweepDecision.decide(
            [DueSend(held)],
            tables.verifications,
            now: tables.now,
            capacity: 9,
            repeatsUnknown: true,
            keys: Self.otherKeys[index]
        )
        #expect(swept.claims.isEmpty)
        let expected: SendDisposition =
            state == .dispatching ? .unknown(.workerLost) : .failed(.providerUnavailable)
        #expect(swept.results.map(\.disposition) == [expected])
        #expect(swept.mismatches == [CodeMismatch(send: claim.reference, codeKey: KeyID(1), hashKey: KeyID(1))])
    }

    @Test func `a test number's code is the policy's, whatever the keys`() throws {
        let number = try #require(PhoneNumber("+16505550123"))
        var tables = DecisionTables { $0.testNumbers = [TestNumber(number: number, code: "654321", until: nil)] }
        tables.intake(.request(id: "r1", phoneNumber: "+16505550123", at: tables.now))
        tables.now = tables.now + .seconds(31)
        tables.keys = Self.otherKeys[0]
        #expect(tables.sweep().claims.map(\.isFictional) == [true])
    }

    @Test func `a code whose hash cannot be compared, since its key is gone, leaves`() throws {
        var (tables, _) = try tables(.claimed)
        tables.keys = CodeKeys(code: .test(1), hash: .test(9, id: 2), fingerprint: .test(3), seal: .test(4))
        #expect(tables.sweep().claims.count == 1)
    }

    @Test func `what there is no room for is not even opened`() throws {
        var (tables, _) = try tables(.claimed)
        tables.keys = Self.lostKeys[1]
        #expect(tables.sweep(capacity: 0).outbox.isEmpty)
        #expect(tables.sweep(capacity: 1).outbox.count == 1)
    }

    @Test func `a send whose key is gone is unknown where it may have left`() throws {
        var (tables, claim) = try tables(.dispatching)
        tables.keys = Self.lostKeys[0]
        let event = try #require(tables.sweep(repeatsUnknown: true).outbox.first.flatMap(EventsView.init))
        #expect(event.status == "unknown")
        #expect(event.reason == "worker_lost")
        #expect(tables.verifications[claim.reference.verificationID]?.sendsUsed == 1)
    }

    @Test func `a send that cannot be read or whose code has been replaced fails`() throws {
        let (tables, claim) = try tables(.claimed)
        func swept(generation: Int32, rendering: Rendering?) -> SweepDecision.Swept {
            let due = DueSend(
                reference: claim.reference,
                generation: generation,
                state: .claimed,
                deadline: claim.deadline,
                attempts: 0,
                rendering: rendering
            )
            return SweepDecision.decide([due], tables.verifications, now: tables.now, capacity: 9, keys: tables.keys)
        }
        #expect(swept(generation: 1, rendering: claim.rendering).claims.count == 1)
        #expect(swept(generation: 1, rendering: nil).results.map(\.disposition) == [.failed(.providerUnavailable)])
        let replaced = swept(generation: 2, rendering: claim.rendering)
        #expect(replaced.results.map(\.disposition) == [.failed(.providerUnavailable)])
    }

    @Test(
        arguments: [
            (DueSend.State.pending, SendDisposition.expiredUnsent), (.claimed, .expiredUnsent),
            (.dispatching, .unknown(.workerLost)),
        ]
    )
    func `a send whose verification is gone is over`(state: DueSend.State, outcome: SendDisposition) throws {
        let (tables, claim) = try tables(state)
        let held = try #require(tables.sends[claim.id])
        let swept = SweepDecision.decide([DueSend(held)], [:], now: tables.now, capacity: 9, keys: tables.keys)
        #expect(swept.claims.isEmpty)
        #expect(swept.results.map(\.disposition) == [outcome])
    }

    @Test func `a verification that ran out is told once, under the request that began it`() throws {
        var (tables, claim) = try tables(.claimed)
        tables.settle(claim, .sent)
        let id = claim.reference.verificationID
        tables.now = tables.now + .seconds(600) - .microseconds(1)
        #expect(tables.expire().isEmpty)
        tables.now = tables.now + .microseconds(1)
        let event = try #require(tables.expire().first.flatMap(EventsView.init))
        #expect(event.status == "expired")
        #expect(event.reason == nil)
        #expect(event.requestID == "r1")
        #expect(event.sequence == 2)
        #expect(tables.verifications[id]?.state == .expired)
        #expect(tables.verifications[id]?.status == .expired)
        #expect(tables.expire().isEmpty)
    }

    @Test func `a locked verification expires as well and an approved one does not`() throws {
        for state in [StoredVerification.State.locked, .approved] {
            var (tables, claim) = try tables(.claimed)
            tables.settle(claim, .sent)
            tables.verifications[claim.reference.verificationID]?.state = state
            tables.now = tables.now + .seconds(600)
            #expect(tables.expire().count == (state == .locked ? 1 : 0))
        }
    }
}
