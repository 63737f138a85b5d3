// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The progress of the stages for a watchdog: the stages at work, and a counter that changes as each advances.
package final class Progress: Sendable {
    /// A stage, or a part of one that can stall by itself.
    package enum Stage: String, Sendable, CaseIterable {
        case intake
        case commit
        case receipts
        case dispatch
        case call
        case record
        case publish
        case forget
        case catchUp = "catch_up"
        case takeover
        case sweep
    }

    private struct Work {
        private(set) var depth = 0
        private(set) var steps = 0

        mutating func step(_ change: Int) {
            depth += change
            steps &+= 1
        }

        mutating func add(_ count: Int) {
            depth += count
        }
    }

    @TaskLocal private static var current: (progress: Progress, stage: Stage)?

    private let stages = Mutex<[Stage: Work]>([:])

    package init() {}

    /// Counts a stage as at work while `body` runs; `body` must not wait for new work.
    func during<Value>(_ stage: Stage, _ body: () async throws -> Value) async rethrows -> Value {
        step(stage, depth: 1)
        defer { step(stage, depth: -1) }
        return try await body()
    }

    /// Counts a number of operations as begun by a stage.
    ///
    /// A new operation is no sign of progress.
    func begin(_ stage: Stage, count: Int) {
        stages.withLock { $0[stage, default: Work()].add(count) }
    }

    /// Counts operations as ended, which is progress.
    func end(_ stage: Stage, count: Int) {
        step(stage, depth: -count)
    }

    /// Runs an operation of a stage; its start and every `advanceCurrent` within it count as progress.
    func running<Value>(_ stage: Stage, _ operation: () async throws -> Value) async rethrows -> Value {
        advance(stage)
        return try await Self.$current.withValue((self, stage), operation: operation)
    }

    /// Records progress of the current task's operation, such as the answer to a statement.
    package static func advanceCurrent() {
        current.map { $0.progress.advance($0.stage) }
    }

    /// Records progress of a stage, such as a further attempt.
    func advance(_ stage: Stage) {
        step(stage, depth: 0)
    }

    /// The stages at work, each with a counter that changes as it advances.
    package var atWork: [Stage: Int] {
        stages.withLock { stages in stages.filter { $0.value.depth > 0 }.mapValues(\.steps) }
    }

    private func step(_ stage: Stage, depth: Int) {
        stages.withLock { $0[stage, default: Work()].step(depth) }
    }
}
