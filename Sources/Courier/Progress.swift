// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What a watchdog sees of the stages: which are at work, and whether they get on with it.
package final class Progress: Sendable {
    /// A stage, or a part of one that may stand still while the rest of it gets on.
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

    /// The stage whose operation the current task runs.
    @TaskLocal private static var current: (progress: Progress, stage: Stage)?

    private let stages = Mutex<[Stage: Work]>([:])

    package init() {}

    /// Lets a stage count as being at work while `body` runs; waiting for work does not belong in it.
    func during<Value>(_ stage: Stage, _ body: () async throws -> Value) async rethrows -> Value {
        step(stage, depth: 1)
        defer { step(stage, depth: -1) }
        return try await body()
    }

    /// Lets a stage count as being at work until as much has ended; to be given more is no sign of getting on.
    func begin(_ stage: Stage, count: Int) {
        stages.withLock { $0[stage, default: Work()].add(count) }
    }

    /// Tells that a stage is done with so much of what was begun.
    func end(_ stage: Stage, count: Int) {
        step(stage, depth: -count)
    }

    /// Runs an operation of a stage, which gets on with this and with every `advanceCurrent` in it.
    func running<Value>(_ stage: Stage, _ operation: () async throws -> Value) async rethrows -> Value {
        advance(stage)
        return try await Self.$current.withValue((self, stage), operation: operation)
    }

    /// Tells that the current task's operation has got on, as with the answer to one of its statements.
    package static func advanceCurrent() {
        current.map { $0.progress.advance($0.stage) }
    }

    /// Tells that a stage has got on, as with one more try.
    func advance(_ stage: Stage) {
        step(stage, depth: 0)
    }

    /// The stages that are at work, each with a number that changes when it gets on.
    package var atWork: [Stage: Int] {
        stages.withLock { stages in stages.filter { $0.value.depth > 0 }.mapValues(\.steps) }
    }

    private func step(_ stage: Stage, depth: Int) {
        stages.withLock { $0[stage, default: Work()].step(depth) }
    }
}
