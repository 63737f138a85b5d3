// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import Verification

/// The third stage: writes the outcomes of sends, many in one transaction.
struct Record: Sendable {
    let context: StageContext
    let budgets: BudgetWallet

    /// The results whose rows another transaction locks: retried concurrently with new ones.
    let locked = BatchQueue<SendResult>()

    /// Writes results.
    func write(_ batch: [SendResult]) async {
        let rest = await writeUnlocked(batch)
        // After the drain timeout the queue is closed: it accepts nothing.
        if !rest.isEmpty, !locked.append(rest) { giveUp(rest) }
    }

    /// Writes locked results after a delay, since PostgreSQL sends no notification when a lock is released.
    ///
    /// Results that are still locked are tried again until the drain timeout ends.
    func retry(_ batch: [SendResult]) async {
        try? await Task.sleep(for: .milliseconds(500))
        let rest = await writeUnlocked(batch)
        if Task.isCancelled { giveUp(rest) } else { locked.putBack(rest) }
    }

    /// Writes results, and returns those whose rows another transaction locks.
    private func writeUnlocked(_ batch: [SendResult]) async -> [SendResult] {
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

    /// Writes results of different sends, at most one per send.
    ///
    /// Halves the batch when it exceeds the statement timeout or holds a result that the database can never accept.
    /// Only that faulty result is given up.
    private func writeRound(_ round: [SendResult]) async -> [SendResult] {
        guard !round.isEmpty else { return [] }
        let outcome = await context.retry.run(.record, .untilCancelled) { () async throws -> Recorded<RecordResult>? in
            try await LedgerRetry.whole(round.count) { try await context.ledger.record(round) }
        }
        if let recorded = outcome ?? nil {
            context.observe(.recordRecorded)
            let waiting = recorded.value.waiting
            let locked = Set(waiting.map(\.send.id))
            let written = locked.isEmpty ? round : round.filter { !locked.contains($0.send.id) }
            budgets.settle(written, recorded: recorded.value.settled)
            context.outbox.append(recorded.outbox)
            return waiting
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
