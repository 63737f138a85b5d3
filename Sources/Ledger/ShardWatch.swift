// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Verification

/// Something that became of a shard.
package enum ShardChange: Sendable {
    /// It fails; told again while it does.
    case failing(ShardFailure)

    /// It answers again, counted from 0.
    case recovered(Int)
}

/// Tells that a shard fails, and when it is back.
///
/// Sweeps go on with the shards that answer, so nobody else would say that one does not.
final class ShardWatch: Sendable {
    private let failing = Mutex<[Int: OutageNotice]>([:])
    private let report: @Sendable (ShardChange) -> Void

    init(report: @escaping @Sendable (ShardChange) -> Void) {
        self.report = report
    }

    var isCalm: Bool { failing.withLock(\.isEmpty) }

    func noteSuccess(of shard: Int) {
        let isBack = failing.withLock { $0.removeValue(forKey: shard) != nil }
        if isBack { report(.recovered(shard)) }
    }

    func note(_ failure: ShardFailure) {
        let isDue = failing.withLock { $0[failure.shard, default: OutageNotice()].failed() }
        if isDue { report(.failing(failure)) }
    }
}
