// SPDX-License-Identifier: Apache-2.0

/// Commits the offsets of what a stage has recorded, many batches together and beside the stage.
///
/// Nothing waits for it, and each commit costs the broker as much as reading a batch. A record that comes again
/// meanwhile is one that is known. A commit that failed is made again, since a quiet topic gives no later one to cover it.
struct OffsetCommits: Sendable {
    let source: any RecordSource

    /// Records of the batches that are not durable: nothing is committed past them.
    var waiting = WaitingRecords()
    let progress: Progress

    /// Told of each commit.
    let didCommit: @Sendable () -> Void
    let positions = BatchQueue<SourcePosition>()

    /// Between a commit that failed and the next one.
    private static let pause = Duration.seconds(1)

    /// Commits until everything is committed and `finish` was called.
    func run() async {
        for await batch in positions.batches(of: .max, after: { .milliseconds(200) }) {
            let isDone = await progress.during(.commit) {
                defer { didCommit() }
                return await source.commit(batch, before: waiting.all)
            }
            guard !isDone else { continue }
            await Task.pause(until: .now + Self.pause)
            // The newest position covers the earlier ones. A queue that is finished takes it no more.
            positions.append(batch.suffix(1))
        }
    }

    /// Takes the positions of batches that are durable, but for what waits.
    func add(_ batches: [SourcePosition]) {
        positions.append(batches)
    }

    func finish() {
        positions.finish()
    }
}
