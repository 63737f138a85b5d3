// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle
import Verification

/// Publishes the due records of the outbox table that no worker holds, concurrently with the records passed on in
/// memory.
struct CatchUp: Service {
    private let publish: Publish

    private var context: StageContext { publish.context }
    private var unacknowledged: Unacknowledged { publish.unacknowledged }

    init(_ publish: Publish) {
        self.publish = publish
    }

    func run() async {
        await withGracefulShutdownHandler {
            var lastLook = ContinuousClock.now - DestinationRoom.probePause
            for await _ in publish.recheck { await recheck(&lastLook) }
        } onGracefulShutdown: {
            publish.recheck.finish()
        }
    }

    /// Reads the table until it has no more due records than fit into a small batch.
    private func recheck(_ lastLook: inout ContinuousClock.Instant) async {
        var isMore = true
        while isMore, !Task.isStopping, hasRoom {
            let isSilent = unacknowledged.isSilent()
            // While a destination is stuck, one read per `probePause` is enough for its probes.
            if isSilent, .now < lastLook + DestinationRoom.probePause { return }
            lastLook = .now
            isMore = await context.progress.during(.catchUp) {
                let isRecalled = await recall()
                let records = await context.retry.run(.catchUp, .once) { try await context.ledger.sweepOutbox() } ?? []
                await publish.produce(records)
                let weight = records.reduce(0) { $0 + $1.weight }
                return !isSilent && (isRecalled || weight * 2 > context.settings.batchSize)
            }
        }
    }

    /// Makes records due that were left in the table while their destination was stuck; true when there are some.
    ///
    /// At most one batch, since records that were due before have priority.
    private func recall() async -> Bool {
        let streams = unacknowledged.recall(context.settings.batchSize)
        guard !streams.isEmpty else { return false }
        _ = await context.retry.run(.catchUp, .once) {
            try await context.ledger.recall(streams, within: DestinationRoom.longestPause)
        }
        return true
    }

    /// True when the table may be read.
    ///
    /// False while many records wait in memory: their leases may expire, and reading the table would publish them
    /// twice.
    private var hasRoom: Bool { context.outbox.weight < context.settings.batchSize }
}
