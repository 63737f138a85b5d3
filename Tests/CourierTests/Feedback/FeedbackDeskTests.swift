// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import Synchronization
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

@Suite(.timeLimit(.minutes(1))) struct FeedbackDeskTests {
    private let statistics = Statistics()
    private let log = LogRecord()

    private func message(_ number: Int, of provider: String = "main") -> ConfirmedMessage {
        ConfirmedMessage(
            send: SendID(UUIDValue(UInt128(number))),
            provider: provider,
            messageID: "SM\(number)",
            approvedAt: .test
        )
    }

    private func desk(_ providers: [MemoryFeedback]) -> FeedbackDesk {
        FeedbackDesk(
            InForce(Dictionary(uniqueKeysWithValues: providers.map { ($0.name, $0) })),
            deadline: .seconds(10),
            every: .milliseconds(5),
            statistics: statistics,
            logger: log.logger
        )
    }

    private func running(_ desk: FeedbackDesk, _ body: () async throws -> Void) async throws {
        let task = Task { await desk.run() }
        defer { task.cancel() }
        try await body()
        task.cancel()
        await task.value
    }

    private func counts(_ total: inout [FeedbackDesk.Result: Int]) -> [FeedbackDesk.Result: Int] {
        total.merge(statistics.take().feedback, uniquingKeysWith: +)
        return total
    }

    @Test func `each message is reported once, to its own provider`() async throws {
        let (main, backup) = (MemoryFeedback("main"), MemoryFeedback("backup"))
        let desk = desk([main, backup])
        #expect(desk.names == ["backup", "main"])
        var total: [FeedbackDesk.Result: Int] = [:]
        try await running(desk) {
            desk.add((0..<100).map { message($0, of: $0 % 2 == 0 ? "main" : "backup") })
            try await eventually("all are reported") { counts(&total)[.confirmed] == 100 }
        }
        #expect(Set(main.ids) == Set((0..<50).map { "SM\($0 * 2)" }) && main.ids.count == 50)
        #expect(backup.ids.count == 50)
        #expect(counts(&total) == [.confirmed: 100])
        #expect(log.lines.isEmpty)
        #expect(main.mostAtOnce <= FeedbackDesk.concurrency)
    }

    @Test func `a provider that fails gets no more for a while, and no message a second time`() async throws {
        let (main, backup) = (MemoryFeedback("main"), MemoryFeedback("backup"))
        main.answer = ProviderAnswer(.throttled, errorCode: "http_429")
        let desk = desk([main, backup])
        var total: [FeedbackDesk.Result: Int] = [:]
        try await running(desk) {
            desk.add((0..<1000).map { message($0) })
            try await eventually("the first batch is over") { counts(&total).values.reduce(0, +) == 1000 }
            #expect(main.ids.count <= FeedbackDesk.concurrency && Set(main.ids).count == main.ids.count)
            let called = main.ids.count
            desk.add((1000..<1010).map { message($0) } + [message(1, of: "backup")])
            try await eventually("the other one is served") { counts(&total).values.reduce(0, +) == 1011 }
            #expect(main.ids.count == called, "it is paused")
        }
        #expect(total[.confirmed] == 1 && total[.failed] == main.ids.count)
        #expect(log.lines(.feedbackFailed).count == main.ids.count)
        #expect(Set(log.values("error_code")) == ["http_429"])
    }

    @Test func `a report that concerns one message alone stops no other`() async throws {
        let main = MemoryFeedback("main")
        main.answer = ProviderAnswer(.refused, errorCode: "http_404", isOfMessage: true)
        let desk = desk([main])
        var total: [FeedbackDesk.Result: Int] = [:]
        try await running(desk) {
            desk.add((0..<100).map { message($0) })
            try await eventually("all are tried once") { counts(&total)[.failed] == 100 }
        }
        #expect(Set(main.ids).count == 100 && main.ids.count == 100)
    }

    @Test func `a full queue drops what comes, and a slow provider delays no other`() async throws {
        let (slow, other) = (MemoryFeedback("main"), MemoryFeedback("other"))
        let gate = Gate()
        defer { gate.open() }
        slow.gate = gate
        let desk = desk([slow, other])
        var total: [FeedbackDesk.Result: Int] = [:]
        try await running(desk) {
            desk.add([message(0)])
            try await eventually("it is called") { slow.started == 1 }
            desk.add((1...FeedbackDesk.capacity + 5).map { message($0) })
            desk.add([message(1, of: "other")])
            try await eventually("the other one is served") { other.ids.count == 1 }
            try await eventually("five are dropped") { counts(&total)[.dropped] == 5 }
        }
        #expect(slow.ids.isEmpty)
    }

    @Test func `a stop ends a call at once`() async throws {
        let slow = MemoryFeedback("main")
        let gate = Gate()
        defer { gate.open() }
        slow.gate = gate
        let desk = desk([slow])
        try await running(desk) {
            desk.add([message(0)])
            try await eventually("it is called") { slow.started == 1 }
        }
        #expect(log.lines.isEmpty)
    }
}

/// A provider that remembers reports.
final class MemoryFeedback: FeedbackProvider {
    private struct State {
        var ids: [String] = []
        var started = 0
        var now = 0
        var mostAtOnce = 0
        var answer = ProviderAnswer(.accepted)
        var gate: Gate?
    }

    let name: String
    private let state = Mutex(State())

    init(_ name: String) {
        self.name = name
    }

    /// The ids of the messages whose reports are over.
    var ids: [String] { state.withLock(\.ids) }
    var started: Int { state.withLock(\.started) }
    var mostAtOnce: Int { state.withLock(\.mostAtOnce) }
    var answer: ProviderAnswer {
        get { state.withLock(\.answer) }
        set { state.withLock { $0.answer = newValue } }
    }
    var gate: Gate? {
        get { state.withLock(\.gate) }
        set { state.withLock { $0.gate = newValue } }
    }

    func confirm(_ message: ConfirmedMessage, within deadline: Duration) async -> ProviderAnswer {
        let gate = state.withLock { state in
            state.started += 1
            state.now += 1
            state.mostAtOnce = max(state.mostAtOnce, state.now)
            return state.gate
        }
        await gate?.pass()
        await Task.yield()
        return state.withLock { state in
            state.now -= 1
            if !Task.isCancelled { state.ids.append(message.messageID) }
            return state.answer
        }
    }
}
