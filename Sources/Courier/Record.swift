// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import ServiceLifecycle
import Verification

/// The third stage: writes the outcomes of sends, many in one transaction.
struct Record: Service {
    let context: StageContext
    let results: BatchQueue<SendResult>

    /// Runs until the previous stage has finished the queue and every result is written.
    func run() async throws {
        let waiting = BatchQueue<SendResult>()
        await withDiscardingTaskGroup { group in
            group.addTask { await recordWaiting(waiting) }
            let moment = { @Sendable in context.inFlight.gathering(upTo: 5) }
            for await batch in results.batches(of: context.settings.batchSize, after: moment) {
                let rest = await write(batch)
                if !rest.isEmpty { waiting.append(rest) }
            }
            waiting.finish()
        }
        context.outbox.finish()
        await waitForShutdown()
    }

    /// Retries results whose rows another transaction locks, concurrently with new ones, until all are written or the
    /// drain timeout ends.
    private func recordWaiting(_ waiting: BatchQueue<SendResult>) async {
        var last: [SendResult] = []
        for await batch in waiting.batches(of: context.settings.batchSize) {
            let rest = await writeLater(batch)
            if !waiting.append(rest) { last += rest }
        }
        while !last.isEmpty, !Task.isCancelled { last = await writeLater(last) }
        giveUp(last)
    }

    /// Writes results after a delay, since PostgreSQL sends no notification when a lock is released.
    private func writeLater(_ batch: [SendResult]) async -> [SendResult] {
        try? await Task.sleep(for: .milliseconds(500))
        return await write(batch)
    }

    /// Writes results, and returns those whose rows another transaction locks.
    private func write(_ batch: [SendResult]) async -> [SendResult] {
        await context.progress.during(.record) {
            let start = ContinuousClock.now
            var waiting: [SendResult] = []
            // A batch may hold an answer and a receipt of the same send: write them in order.
            for round in batch.rounds(by: \.send.id) {
                let behind = Set(waiting.map(\.send.id))
                guard !behind.isEmpty else {
                    waiting = await writeRound(round)
                    continue
                }
                waiting += round.filter { behind.contains($0.send.id) }
                waiting += await writeRound(round.filter { !behind.contains($0.send.id) })
            }
            let count = batch.count - waiting.count
            if count > 0 { context.statistics.noteRecorded(count, since: start) }
            context.inFlight.remove(count)
            return waiting
        }
    }

    /// Writes results of different sends, at most one per send.
    ///
    /// Halves the batch when it exceeds the statement timeout or holds a result that the database can never accept.
    /// Only that faulty result is given up.
    private func writeRound(_ round: [SendResult]) async -> [SendResult] {
        guard !round.isEmpty else { return [] }
        let outcome = await context.retry.run(.record, .untilCancelled) { () async throws -> Recorded<[SendResult]>? in
            try await LedgerRetry.whole(round.count) { try await context.ledger.record(round) }
        }
        if let recorded = outcome ?? nil {
            context.settings.observe(.recordRecorded)
            context.outbox.append(recorded.outbox)
            return recorded.value
        }
        guard outcome != nil, round.count > 1 else {
            giveUp(round)
            return []
        }
        let middle = round.count / 2
        let first = await writeRound(Array(round[..<middle]))
        return first + (await writeRound(Array(round[middle...])))
    }

    private func giveUp(_ results: [SendResult]) {
        for result in results {
            context.logger.log(
                .recordGivenUp,
                [
                    .verificationID: LogValue(result.send.verificationID), .sendID: LogValue(result.send.id),
                    .requestID: .text(result.send.requestID), .provider: .text(result.attempt?.provider ?? ""),
                ].adding(result.send.trace)
            )
        }
    }
}

extension Array {
    /// Splits the elements into rounds that contain each key at most once, in order.
    func rounds<Key: Hashable>(by key: (Element) -> Key) -> [[Element]] {
        var rounds: [[Element]] = []
        var counts: [Key: Int] = [:]
        for element in self {
            let key = key(element)
            let round = counts[key, default: 0]
            counts[key] = round + 1
            if round == rounds.count { rounds.append([]) }
            rounds[round].append(element)
        }
        return rounds
    }
}
