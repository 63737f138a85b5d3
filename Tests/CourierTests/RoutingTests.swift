// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import Verification

@testable import Courier

/// How a worker's sends come to their providers.
@Suite struct RoutingTests {
    private static let numbers = (0..<20).map { "+491512346\(1000 + $0)" }

    @Test func `a provider gets no more than its rate, and what waits for its turn is sent later`() async throws {
        let journal = Journal()
        let times = Mutex<[ContinuousClock.Instant]>([])
        let provider = MemoryProvider(journal: journal) { _ in
            times.withLock { $0.append(.now) }
            return ProviderAnswer(.accepted, messageID: "1")
        }
        let rate = RateLimit(count: 5, per: .seconds(1))
        try await MemoryWorker.with([provider], journal: journal, limits: ["main": rate]) { worker in
            worker.source.add(Array(Self.numbers[..<8]))
            try await worker.settle(events: 8)
            #expect(worker.sink.answers == [String](repeating: "sent", count: 8))
        }
        let calls = times.withLock(\.self)
        #expect(calls.count == 8)
        // The sixth call is of the second span.
        if calls.count == 8 { #expect(calls[5] - calls[0] >= .milliseconds(900)) }
    }

    @Test func `a provider that takes nothing is passed over, and its messages go when it does again`() async throws {
        let journal = Journal()
        let isDown = Mutex(true)
        let provider = MemoryProvider(journal: journal) { _ in
            isDown.withLock(\.self)
                ? ProviderAnswer(.notSent, errorCode: "connection_refused")
                : ProviderAnswer(.accepted, messageID: "1")
        }
        try await MemoryWorker.with([provider], journal: journal) { worker in
            worker.source.add(Self.numbers)
            try await eventually("five calls have failed") { provider.messages.count >= 5 }
            let calls = provider.messages.count
            // Sweeps bring the sends back again and again; hardly any of them is a call.
            let sweeps = worker.journal.entries.count { $0 == .ledger(.sweepSends) }
            try await eventually("sweeps go on") {
                worker.journal.entries.count { $0 == .ledger(.sweepSends) } > sweeps + 10
            }
            #expect(provider.messages.count <= max(calls, 20) + 2)
            isDown.withLock { $0 = false }
            try await worker.settle(events: 20)
            #expect(worker.sink.answers.count { $0 == "sent" } >= 15)
        }
    }
}
