// SPDX-License-Identifier: Apache-2.0

package import Formats
import Synchronization

/// The requests of one scope that a block refused or recorded.
package struct BrakeRefusal: Sendable, Equatable {
    package let tenant: String
    package let key: BrakeKey
    package var count: Int

    /// The time of the last one.
    package var at: Timestamp

    package init(tenant: String, key: BrakeKey, count: Int = 1, at time: Timestamp) {
        self.tenant = tenant
        self.key = key
        self.count = count
        at = time
    }
}

/// The results of the toll-fraud brake in one batch of decisions.
package struct BrakeEffects: Sendable, Equatable {
    /// A request that was sent although a recording block would have refused it.
    package struct Recorded: Sendable, Equatable {
        package let request: RequestKey
        package let key: BrakeKey
    }

    package struct Probe: Sendable, Equatable {
        package let turn: BrakeTurn
        package let at: Timestamp
    }

    /// An operator's order that let a request pass an enforced block.
    package struct Overruled: Sendable, Hashable {
        package let turn: BrakeTurn
        package let region: Region
        package let order: BrakeOverride.Action

        package init(turn: BrakeTurn, region: Region, order: BrakeOverride.Action) {
            self.turn = turn
            self.region = region
            self.order = order
        }
    }

    /// The requests stopped by blocks, including those only recorded.
    package var stopped: [BrakeRefusal] = []
    package var recorded: [Recorded] = []
    package var probes: [Probe] = []
    package var overruled: [Overruled] = []

    package init() {}

    package var isEmpty: Bool { stopped.isEmpty && probes.isEmpty && overruled.isEmpty }
    package var refused: Int { stopped.count - recorded.count }
}

/// The board in force, and the requests that this worker stopped by it.
package final class BrakeSource: Sendable {
    private struct State {
        var board = BrakeBoard.empty
        var refusals: [BrakeTurn: BrakeRefusal] = [:]

        /// The time at which the youngest judged verification began.
        var judgedTo: ContinuousClock.Instant?

        /// The orders that have overruled a block of this board.
        var overruled: Set<BrakeEffects.Overruled> = []
    }

    private let state = Mutex(State())

    package init() {}

    package var current: BrakeBoard {
        var (board, judgedTo) = state.withLock { ($0.board, $0.judgedTo) }
        board.readerLag = judgedTo.map { .now - $0 }
        return board
    }

    /// Replaces blocks and orders, and keeps the counts of probes.
    ///
    /// An order that overrules a block is logged again if the block returns after its end.
    package func replace(with board: BrakeBoard) {
        state.withLock { state in
            let turns = state.board.turns
            state.board = board
            state.board.turns = turns
            state.overruled = state.overruled.filter { board[$0.turn.tenant]?.holds($0.turn.key) == true }
        }
    }

    /// Sets the age of the youngest verification that the fleet's reader has judged.
    package func setReaderLag(_ lag: Duration?) {
        state.withLock { $0.judgedTo = lag.map { .now - $0 } }
    }

    /// The age of the youngest judged verification, which grows until the reader's next round; nil if unknown.
    package var readerLag: Duration? { state.withLock(\.judgedTo).map { .now - $0 } }

    /// Sets the worker's share of the partitions, which is its share of the probes.
    package func setShare(_ share: Double) {
        state.withLock { $0.board.turns.setShare(share) }
    }

    /// Applies the effects of a committed batch.
    package func note(_ effects: BrakeEffects) {
        if effects.isEmpty { return }
        note(effects.stopped)
        state.withLock { state in
            for probe in effects.probes { state.board.turns.take(probe.turn, at: probe.at) }
        }
    }

    /// The orders that overrule a block for the first time.
    package func new(_ overruled: [BrakeEffects.Overruled]) -> [BrakeEffects.Overruled] {
        if overruled.isEmpty { return [] }
        return state.withLock { state in overruled.filter { state.overruled.insert($0).inserted } }
    }

    /// Adds stopped requests to those that are not written yet.
    package func note(_ refusals: [BrakeRefusal]) {
        state.withLock { state in
            for refusal in refusals {
                let turn = BrakeTurn(tenant: refusal.tenant, key: refusal.key)
                guard var sum = state.refusals[turn] else {
                    state.refusals[turn] = refusal
                    continue
                }
                sum.count += refusal.count
                sum.at = max(sum.at, refusal.at)
                state.refusals[turn] = sum
            }
        }
    }

    /// Returns and removes the stopped requests, summed by scope.
    package func takeRefusals() -> [BrakeRefusal] {
        state.withLock { state in
            defer { state.refusals = [:] }
            return Array(state.refusals.values)
        }
    }
}
