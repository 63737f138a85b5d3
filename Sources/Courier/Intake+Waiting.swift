// SPDX-License-Identifier: Apache-2.0

import Logs
import Verification

extension Intake {
    /// Retries the records that wait for rows which another transaction locks, beside the others, until the worker stops.
    ///
    /// Nothing tells when a lock is gone. Offsets are committed past a record only once it is decided, so a worker that
    /// stops leaves what still waits to the next one.
    func retryWaiting(_ commits: OffsetCommits) async {
        while !Task.isStopping {
            await Task.pause(until: .now + .milliseconds(500))
            let records = waiting.all
            if records.isEmpty { continue }
            context.logger.log(.intakeWaiting, [.records: LogValue(records.count)])
            guard await context.progress.during(.intake, { await retry(records, commits) }) else { return }
        }
    }

    /// Retries as many as there is room for; false when the database could not be reached until the worker's end.
    private func retry(_ records: [WaitingRecord], _ commits: OffsetCommits) async -> Bool {
        let room = context.inFlight.reserve(upTo: min(records.count, largestBatch), for: .waitingRecords)
        let tried = records.prefix(room)
        let screened = await screen.screen(tried.map(\.record))
        let taker: InFlight.Taker? = room < records.count ? .waitingRecords : nil
        guard let locked = await decide(screened, reserved: room, for: taker) else { return false }
        waiting.tried(tried.count, leaving: Set(locked.map(\.place)))
        commits.add(tried.map(\.position))
        return true
    }
}
