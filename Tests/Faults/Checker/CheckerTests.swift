// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

/// Checks that each way to break an invariant is found in an otherwise good history.
@Suite struct CheckerTests {
    @Test func `a good history has no violation, and what may happen is counted`() {
        let checker = Checker(.good)
        #expect(checker.violations == [])
        #expect(checker.counts == Checker.Counts(requests: 4, unknown: 1))
    }

    @Test(arguments: Breach.all)
    private func `a broken history is found`(_ breach: Breach) {
        var history = History.good
        breach.apply(&history)
        let checker = Checker(history, repeatsUnknown: breach.repeatsUnknown)
        #expect(checker.violations.contains { $0.invariant == breach.invariant }, "\(checker.violations)")
        #expect(checker.violations.allSatisfy { !$0.text.contains("+49") && !$0.text.contains("123456") })
    }

    @Test func `every invariant has a history that breaks it`() {
        #expect(Set(Breach.all.map(\.invariant)) == Set(Invariant.allCases))
    }

    @Test func `repeats of records, of requests and of events are well`() {
        var history = History.good
        history.events.append(history.events[0].moved(to: 90))
        history.events.append(
            .make("repeat", "one", "v-one", 2, "sent", reason: "duplicate_request", offset: 91)
        )
        history.verifications[0] = .init(id: "v-one", request: "one", sequence: 2, isSendOpen: false)
        #expect(Checker(history).violations == [])
    }

    @Test func `a message that comes twice is allowed once for an unknown outcome, where the operator wants it so`() {
        var history = History.good
        history.sends[1] = .make("s-two", "two", state: "sent", isRepeated: true)
        history.messages.append(.make("two"))
        history.events[1] = .make("e-two", "two", "v-two", 1, "sent", offset: 2)
        let checker = Checker(history, repeatsUnknown: true)
        #expect(checker.violations == [])
        #expect(checker.counts.duplicateMessages == 1)
        #expect(checker.counts.unknown == 1)
    }

    @Test func `a holder that tells late what nobody knew settles it`() {
        var history = History.good
        history.sendChanges.append(.make("s-two", "second", "unknown", "sent", 2, 2))
        history.sends[1] = .make("s-two", "two", state: "sent")
        history.events.append(.make("e-late", "two", "v-two", 2, "sent", offset: 92))
        history.verifications[1] = .init(id: "v-two", request: "two", sequence: 2, isSendOpen: false)
        history.outboxInserts.append(.init(stream: "v-two", sequence: 2))
        let checker = Checker(history)
        #expect(checker.violations == [])
        #expect(checker.counts.unknown == 0)
    }

    @Test func `counts tell how often each promise was broken`() {
        var history = History.good
        history.events.removeFirst()
        history.messages.append(.make("two"))
        history.messages.append(.make("one", code: "999999"))
        history.messages.append(.make("three", code: "1"))
        history.messages[0] = .make("one", time: 2000)
        history.sendChanges.append(.make("s-one", "another", "claimed", "sent", 1, 1))
        let counts = Checker(history).counts
        #expect(counts.lost == 1)
        #expect(counts.duplicateMessages == 1)
        #expect(counts.secondCodes == 1)
        #expect(counts.lateSends == 1)
        #expect(counts.refusedSends == 1)
        #expect(counts.staleWrites == 1)
    }
}

/// A change that breaks one invariant of a good history.
private struct Breach: Sendable, CustomTestStringConvertible {
    let invariant: Invariant
    let testDescription: String
    var repeatsUnknown = false
    let apply: @Sendable (inout History) -> Void

    init(
        _ invariant: Invariant,
        _ name: String,
        repeatsUnknown: Bool = false,
        _ apply: @escaping @Sendable (inout History) -> Void
    ) {
        (self.invariant, testDescription) = (invariant, name)
        (self.repeatsUnknown, self.apply) = (repeatsUnknown, apply)
    }

    static let all = decisions + messages + events + writes

    private static let decisions = [
        Breach(.decided, "a request without a decision") { $0.events.removeFirst() },
        Breach(.decided, "only a repeated answer") {
            $0.events[0] = .make("e-one", "one", "v-one", 1, "sent", reason: "duplicate_request", offset: 1)
        },
        Breach(.decided, "only what became known later") {
            $0.events[0] = .make("e-one", "one", "v-one", 1, "expired", offset: 1)
        },
        Breach(.decided, "two decisions") {
            $0.events.append(.make("e-more", "one", "v-one", 2, "failed", offset: 80))
        },
        Breach(.decided, "a decision for nobody") {
            $0.events.append(.make("e-more", "five", nil, 0, "rejected", offset: 80))
        },
        Breach(.decided, "an unreadable record that is no dead letter") { $0.deadLetters = [] },
        Breach(.decided, "a valid request as a dead letter") { $0.deadLetters += $0.requests[0].places },
        Breach(.decided, "a send left open") { $0.sends[0] = .make("s-one", "one", state: "dispatching") },
        Breach(.decided, "a verification that waits") {
            $0.verifications[0] = .init(id: "v-one", request: "one", sequence: 1, isSendOpen: true)
        },
        Breach(.committedLast, "an offset committed before the decision") { $0.events.removeFirst() },
        Breach(.committedLast, "an offset committed before the dead letter") { $0.deadLetters = [] },
        Breach(.secret, "a number in a log") { $0.leaks = ["a number in a word"] },
    ]

    private static let messages = [
        Breach(.onceEach, "a message twice") { $0.messages.append(.make("one")) },
        Breach(.onceEach, "a message twice for an unknown outcome that is held") { $0.messages.append(.make("two")) },
        Breach(.onceEach, "a message thrice for one unknown outcome", repeatsUnknown: true) { history in
            history.sends[1] = .make("s-two", "two", state: "sent", isRepeated: true)
            history.messages += [.make("two"), .make("two")]
        },
        Breach(.onceEach, "a message twice without an unknown outcome", repeatsUnknown: true) {
            $0.messages.append(.make("one"))
        },
        Breach(.oneCode, "two codes for one generation") { $0.messages.append(.make("one", code: "999999")) },
        Breach(.oneCode, "another person's code") { $0.messages[0] = .make("one", code: "200002") },
        Breach(.inTime, "a message after the deadline") { $0.messages[0] = .make("one", time: 2000) },
        Breach(.refusedStays, "a message to a refused number") { $0.messages.append(.make("three", code: "1")) },
        Breach(.refusedStays, "a refused message to a refused number") {
            $0.messages.append(.make("three", code: "1", isAccepted: false))
        },
        Breach(.refusedStays, "a send for a number that may get none") { history in
            history.requests[0].isRefused = true
        },
        Breach(.refusedStays, "a message to nobody") { $0.messages.append(.make("six", code: "1")) },
    ]

    private static let events = [
        Breach(.toldOnce, "one event with two contents") {
            $0.events.append(.make("e-one", "one", "v-one", 1, "failed", offset: 80))
        },
        Breach(.toldOnce, "an event without a change") {
            $0.events.append(.make("e-more", "one", "v-one", 2, "delivered", offset: 80))
        },
        Breach(.toldOnce, "a change without an event") {
            $0.verifications[0] = .init(id: "v-one", request: "one", sequence: 2, isSendOpen: false)
        },
        Breach(.toldOnce, "events out of order") { history in
            history.events.append(.make("e-late", "one", "v-one", 2, "delivered", offset: 0))
            history.verifications[0] = .init(id: "v-one", request: "one", sequence: 2, isSendOpen: false)
        },
        Breach(.toldOnce, "an event under another key") { history in
            history.events[0] = .make("e-one", "one", "v-one", 1, "sent", key: "v-two", offset: 1)
        },
        Breach(.toldOnce, "an event left in the outbox") { $0.outbox = [.init(stream: "v-one", sequence: 1)] },
        Breach(.toldOnce, "an event written twice") { $0.outboxInserts.append(.init(stream: "v-one", sequence: 1)) },
        Breach(.toldOnce, "told as sent, and no message") { $0.messages.removeFirst() },
        Breach(.toldOnce, "told as failed, and a message was taken") {
            $0.events[0] = .make("e-one", "one", "v-one", 1, "failed", offset: 1)
        },
    ]

    private static let writes = [
        Breach(.fenced, "a fence that falls") {
            $0.sendChanges.append(.make("s-two", "second", "unknown", "unknown", 2, 1))
        },
        Breach(.fenced, "a fence that jumps") {
            $0.sendChanges.append(.make("s-one", "second", "sent", "claimed", 1, 3, leaseWasOver: true))
        },
        Breach(.fenced, "a claim of a lease that is not over") {
            $0.sendChanges.append(.make("s-one", "second", "dispatching", "claimed", 1, 2))
        },
        Breach(.fenced, "a delay by another than the holder") {
            $0.sendChanges.insert(.make("s-one", "second", "dispatching", "pending", 1, 2), at: 2)
        },
        Breach(.fenced, "a write of a lost claim") {
            $0.sendChanges.insert(.make("s-two", "first", "claimed", "sent", 2, 2), at: 4)
        },
        Breach(.fenced, "an unknown outcome settled by the worker that lost it") {
            $0.sendChanges.append(.make("s-two", "first", "unknown", "sent", 2, 2))
        },
        Breach(.fenced, "an outcome that goes back") {
            $0.sendChanges.append(.make("s-one", "first", "sent", "dispatching", 1, 1))
        },
    ]
}

// MARK: - A good history

extension History {
    /// Four requests: one sent, one whose second worker died, one refused, and one unreadable record.
    static let good = History(
        requests: [
            Request(id: "one", number: "+49one", places: [Place(topic: "requests", partition: 0, offset: 1)]),
            Request(id: "two", number: "+49two", places: [Place(topic: "requests", partition: 0, offset: 2)]),
            Request(
                id: "three",
                number: "+49three",
                places: [Place(topic: "requests", partition: 1, offset: 1)],
                isRefused: true
            ),
            Request(id: "four", number: "+49four", places: [Place(topic: "requests", partition: 1, offset: 2)]),
        ],
        messages: [.make("one"), .make("two"), .make("four", isAccepted: false)],
        events: [
            .make("e-one", "one", "v-one", 1, "sent", offset: 1),
            .make("e-two", "two", "v-two", 1, "unknown", offset: 2),
            .make("e-three", "three", nil, 0, "rejected", offset: 3),
            .make("e-four", "four", "v-four", 1, "failed", offset: 4),
        ],
        deadLetters: [Place(topic: "requests", partition: 1, offset: 3)],
        sends: [
            .make("s-one", "one", state: "sent"), .make("s-two", "two", state: "unknown"),
            .make("s-four", "four", state: "failed"),
        ],
        sendChanges: [
            .make("s-one", "first", nil, "claimed", 0, 1), .make("s-one", "first", "claimed", "dispatching", 1, 1),
            .make("s-two", "first", nil, "claimed", 0, 1),
            .make("s-two", "second", "claimed", "claimed", 1, 2, leaseWasOver: true),
            .make("s-two", "second", "claimed", "dispatching", 2, 2),
            .make("s-two", "third", "dispatching", "unknown", 2, 2, leaseWasOver: true),
            .make("s-one", "first", "dispatching", "sent", 1, 1),
        ],
        verifications: [
            .init(id: "v-one", request: "one", sequence: 1, isSendOpen: false),
            .init(id: "v-two", request: "two", sequence: 1, isSendOpen: false),
            .init(id: "v-four", request: "four", sequence: 1, isSendOpen: false),
        ],
        outboxInserts: [.init(stream: "v-one", sequence: 1), .init(stream: "v-two", sequence: 1)],
        committed: ["requests": [0: 3, 1: 4]],
        unreadable: [Place(topic: "requests", partition: 1, offset: 3)]
    )

    fileprivate static let codes = ["one": "123456", "two": "200002", "four": "123456"]
}

extension History.Message {
    fileprivate static func make(
        _ request: String,
        code: String? = nil,
        time: Int64 = 1000,
        isAccepted: Bool = true
    ) -> Self {
        Self(
            number: "+49\(request)",
            code: code ?? History.codes[request] ?? "",
            time: .test + .seconds(time),
            isAccepted: isAccepted
        )
    }
}

extension History.Send {
    fileprivate static func make(_ id: String, _ request: String, state: String, isRepeated: Bool = false) -> Self {
        Self(
            id: id,
            verification: "v-\(request)",
            generation: 1,
            request: request,
            state: state,
            number: "+49\(request)",
            code: History.codes[request] ?? "",
            deadline: .test + .seconds(1500),
            isRepeated: isRepeated
        )
    }
}

extension History.Event {
    fileprivate static func make(
        _ id: String,
        _ request: String,
        _ verification: String?,
        _ sequence: Int,
        _ status: String,
        reason: String? = nil,
        key: String? = nil,
        offset: Int64
    ) -> Self {
        Self(
            id: id,
            key: key ?? verification ?? request,
            verification: verification,
            request: request,
            sequence: sequence,
            status: status,
            reason: reason,
            place: History.Place(topic: "requests", partition: 0, offset: offset),
            digest: status.hashValue
        )
    }

    fileprivate func moved(to offset: Int64) -> Self {
        Self(
            id: id,
            key: key,
            verification: verification,
            request: request,
            sequence: sequence,
            status: status,
            reason: reason,
            place: History.Place(topic: "requests", partition: 0, offset: offset),
            digest: digest
        )
    }
}

extension History.SendChange {
    fileprivate static func make(
        _ send: String,
        _ writer: String,
        _ oldState: String?,
        _ newState: String,
        _ oldFence: Int,
        _ newFence: Int,
        leaseWasOver: Bool = false
    ) -> Self {
        Self(
            send: send,
            writer: writer,
            oldState: oldState,
            newState: newState,
            oldFence: oldFence,
            newFence: newFence,
            leaseWasOver: leaseWasOver
        )
    }
}
