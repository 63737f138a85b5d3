// SPDX-License-Identifier: Apache-2.0

import Formats

/// Commits the offsets of recorded batches, many batches in one commit and concurrently with the stage.
///
/// Nothing waits for a commit, and each costs the broker as much as reading a batch. A record that is read again before
/// its commit is recognized as known. A failed commit is repeated, since on a quiet topic no later one would cover it.
struct OffsetCommits: Sendable {
    let source: any RecordSource

    /// Records of the batches that are not durable yet: offsets past them are not committed.
    var waiting = WaitingRecords()
    let progress: Progress

    /// Called after each commit, successful or not.
    let didCommit: @Sendable () -> Void
    let positions = BatchQueue<SourcePosition>()

    /// Time between a failed commit and the next one.
    private static let pause = Duration.seconds(1)

    /// Commits until `finish` was called and everything is committed.
    func run() async {
        for await batch in positions.batches(of: .max, after: { .milliseconds(200) }) {
            let isDone = await progress.during(.commit) {
                defer { didCommit() }
                return await source.commit(batch, before: waiting.all)
            }
            guard !isDone else { continue }
            await Task.pause(until: .now + Self.pause)
            // The newest position covers the earlier ones. A finished queue rejects it: the next worker reads the
            // records again.
            positions.append(batch.suffix(1))
        }
    }

    /// Adds the positions of batches that are durable, except for `waiting`.
    func add(_ batches: [SourcePosition]) {
        positions.append(batches)
    }

    func finish() {
        positions.finish()
    }
}
