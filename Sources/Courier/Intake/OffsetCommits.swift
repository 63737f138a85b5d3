// SPDX-License-Identifier: Apache-2.0

import Formats

/// A source, and the commits of its offsets: many recorded batches in one commit, concurrently with reading.
///
/// Nothing waits for a commit, and each costs the broker as much as reading a batch. A record that is read again before
/// its commit is recognized as known. A failed commit is repeated, since on a quiet topic no later one would cover it.
struct OffsetCommits: Sendable {
    let source: any RecordSource

    /// Called after each commit, successful or not.
    var didCommit: @Sendable () -> Void = {}

    /// Records that are read and not durable: offsets past them are not committed.
    let waiting = WaitingRecords()

    /// The positions of batches that are durable, except for `waiting`.
    let positions = BatchQueue<SourcePosition>()

    var batches: BatchQueue<SourcePosition>.Batches { positions.batches(of: .max) { .milliseconds(200) } }

    /// Time between a failed commit and the next one.
    private static let pause = Duration.seconds(1)

    func commit(_ batches: [SourcePosition]) async {
        let isDone = await source.commit(batches, before: waiting.all)
        didCommit()
        if isDone { return }
        await Task.pause(until: .now + Self.pause)
        // The newest position covers the earlier ones. A finished queue rejects it: the next worker reads the records
        // again.
        positions.append(batches.suffix(1))
    }
}
