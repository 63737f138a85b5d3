// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What a watchdog sees of the stages: which are at work, and whether they get on with it.
package final class Progress: Sendable {
    package enum Stage: String, Sendable, CaseIterable {
        case intake
        case commit
        case receipts
        case dispatch
        case record
        case publish
        case sweep

        /// The place among all cases.
        fileprivate var place: Int {
            switch self {
            case .intake: 0
            case .commit: 1
            case .receipts: 2
            case .dispatch: 3
            case .record: 4
            case .publish: 5
            case .sweep: 6
            }
        }
    }

    private struct Work {
        var depth = 0
        var steps = 0
    }

    /// By the stages' places among all.
    private let stages = Mutex(Stage.allCases.map { _ in Work() })

    package init() {}

    /// Lets a stage count as being at work while `body` runs; waiting for work does not belong in it.
    func during<Value>(_ stage: Stage, _ body: () async throws -> Value) async rethrows -> Value {
        change(stage) { $0.depth += 1 }
        defer { change(stage) { $0.depth -= 1 } }
        return try await body()
    }

    /// Tells that a stage has got on, as with one more try.
    func advance(_ stage: Stage) {
        change(stage) { _ in }
    }

    /// The stages that are at work, each with a number that changes when it gets on.
    package var atWork: [Stage: Int] {
        let stages = stages.withLock(\.self)
        let atWork = zip(Stage.allCases, stages).filter { $0.1.depth > 0 }
        return Dictionary(uniqueKeysWithValues: atWork.map { ($0, $1.steps) })
    }

    private func change(_ stage: Stage, _ body: (inout Work) -> Void) {
        stages.withLock { stages in
            body(&stages[stage.place])
            stages[stage.place].steps &+= 1
        }
    }
}
