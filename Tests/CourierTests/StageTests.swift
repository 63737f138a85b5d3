// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import TestTools
import Testing

@testable import Courier

@Suite(.timeLimit(.minutes(1))) struct StageTests {
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let queue = BatchQueue<Int>()

    private var context: StageContext {
        let ledger = FailingLedger(journal: Journal())
        return StageContext(ledger: ledger, settings: .test, statistics: Statistics(), logger: quiet)
    }

    /// Runs a step during the body, and then stops it.
    private func run(_ stage: Stage<Int>, _ body: () async throws -> Void) async throws {
        let group = ServiceGroup(configuration: .init(services: [stage], logger: quiet))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await doing {
                try await body()
            } afterwards: {
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }
    }

    @Test func `a step takes the last element of its queue before it ends, and closes the queue`() async throws {
        let taken = Mutex<[[Int]]>([])
        let last: @Sendable () async -> Void = { queue.append([4]) }
        let stage = Stage(in: context, from: queue.batches(of: 2), last: last) { batch in
            taken.withLock { $0.append(batch) }
        }
        try await run(stage) {
            queue.append([1, 2, 3])
            try await eventually("all are taken") { taken.withLock(\.count) == 2 }
        }
        #expect(taken.withLock(\.self) == [[1, 2], [3], [4]])
        #expect(!queue.append([5]))
    }

    @Test func `a step takes the next batch while tasks of the last one run, and ends after them`() async throws {
        let gate = Gate()
        let (begun, ended) = (BatchQueue<Int>(), BatchQueue<Int>())
        let stage = Stage(
            in: context,
            from: queue.batches(of: 1),
            adding: { batch, group in
                group.addTask {
                    begun.append(batch)
                    await gate.pass()
                    ended.append(batch)
                }
            }
        )
        try await run(stage) {
            defer { gate.open() }
            queue.append([1, 2])
            try await eventually("both tasks have begun") { begun.count == 2 }
            #expect(ended.count == 0)
        }
        #expect(ended.count == 2)
    }
}
