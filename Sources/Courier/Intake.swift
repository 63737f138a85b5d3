// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Logging
import Logs
import ServiceLifecycle
import Synchronization
import Verification

/// The first stage: records become decisions.
///
/// PostgreSQL owns a request from the transaction on; only then is its offset committed, so a slow provider never blocks
/// a partition and a rebalance never repeats a send.
struct Intake: Service {
    let context: StageContext
    let source: any RecordSource
    let screen: RecordScreen
    let claims: BatchQueue<Dispatch.Claims>
    let waiting = WaitingRecords()

    func run() async throws {
        let commits = OffsetCommits(source: source, waiting: waiting, progress: context.progress) {
            context.settings.observe(.intakeCommitted)
        }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await commits.run() }
            defer { commits.finish() }
            async let retries: Void = retryWaiting(commits)
            try await withGracefulShutdownHandler {
                var next = try await read()
                while let (batch, screened) = next, await waitForRoom(batch) {
                    next = try await decide(batch, screened, commits)
                }
            } onGracefulShutdown: {
                source.stopReading()
                context.inFlight.stopWaiting()
            }
            await retries
        }
    }

    /// Decides a batch, and reads the next one; nil when the worker stops.
    ///
    /// Only behind a full batch it reads meanwhile: what comes one by one is decided together with what comes by then.
    private func decide(
        _ batch: SourceBatch,
        _ screened: ScreenedRecords,
        _ commits: OffsetCommits
    ) async throws -> (SourceBatch, ScreenedRecords)? {
        guard batch.records.count == largestBatch else {
            guard await decide(batch, screened) else { return nil }
            commits.add([batch.position])
            return try await read()
        }
        async let ahead = read()
        guard await decide(batch, screened) else { return nil }
        commits.add([batch.position])
        return try await ahead
    }

    /// The next batch, screened; nil when the worker stops.
    private func read() async throws -> (SourceBatch, ScreenedRecords)? {
        guard let batch = try await source.nextBatch(maximum: largestBatch) else { return nil }
        return await context.progress.during(.intake) { (batch, await screen.screen(batch.records)) }
    }

    /// Records decided in one transaction at most: each may become a send, for which there must be room.
    private var largestBatch: Int { min(context.settings.batchSize, max(1, context.settings.maxInFlight / 2)) }

    /// Reserves places for the sends of a batch, of which each record may make one; false when the worker stops before.
    private func waitForRoom(_ batch: SourceBatch) async -> Bool {
        while waiting.isFull, !Task.isStopping { await Task.pause(until: .now + .milliseconds(100)) }
        return await context.inFlight.waitForRoom(batch.records.count)
    }

    /// Decides a batch and hands on what follows; false when the database could not be reached until the worker's end.
    private func decide(_ batch: SourceBatch, _ screened: ScreenedRecords) async -> Bool {
        await context.progress.during(.intake) {
            context.settings.observe(.intakeRead)
            // Screened again when it waited for room meanwhile and another policy came.
            let screened = screen.isCurrent(screened) ? screened : await screen.screen(batch.records)
            let (free, behind) = waiting.split(screened.candidates)
            let room = batch.records.count
            guard let locked = await decide(screened.only(free), reserved: room) else { return false }
            waiting.add(behind + locked, at: batch.position)
            return true
        }
    }

    /// Decides what was screened, for whose sends places are reserved, and hands on what follows.
    ///
    /// Returns what waits for rows that another transaction locks; nil when the database could not be reached until the
    /// worker's end.
    private func decide(
        _ screened: ScreenedRecords,
        reserved: Int,
        for taker: InFlight.Taker? = nil
    ) async -> [Candidate]? {
        let start = ContinuousClock.now
        let records = screened.candidates.map(\.record)
        // Screened again after a failure: what was written with the ids of before may be there.
        let first = Mutex<ScreenedRecords?>(screened)
        let recorded = await context.retry.recordAll(records, .intake) { records, reason in
            if let screened = first.withLock({ $0.take() }) { return try await record(screened, as: reason) }
            return try await record(screen.screen(records), as: reason)
        }
        guard let recorded else { return nil }
        context.settings.observe(.intakeRecorded)
        context.inFlight.claim(recorded.reduce(0) { $0 + $1.value.claims.sends.count }, of: reserved, for: taker)
        for part in recorded { handOver(part) }
        let waiting = recorded.flatMap(\.value.waiting)
        let places = Set(waiting.map(\.place))
        let decided =
            waiting.isEmpty ? records : screened.candidates.filter { !places.contains($0.place) }.map(\.record)
        context.statistics.noteDecided(decided, since: start, at: context.settings.now())
        return waiting
    }

    /// What a transaction left.
    private struct Decided {
        var claims: Dispatch.Claims
        var waiting: [Candidate]
    }

    /// Decides and records what was screened, in one transaction.
    private func record(
        _ screened: ScreenedRecords,
        as reason: DeadLetterReason?
    ) async throws -> Recorded<Decided> {
        let claimedAt = ContinuousClock.now
        let candidates = screened.candidates.map { reason.map($0.deadLetter) ?? $0 }
        let recorded = try await recordUnlessLocked(candidates, by: screened.rules)
        // Only now: a batch that is decided again after a failure is reported once.
        let waiting = Set(recorded.value.waiting.map(\.place))
        for candidate in candidates where !waiting.contains(candidate.place) { report(candidate) }
        context.statistics.noteUnread(candidates.lazy.filter { !waiting.contains($0.place) }.flatMap(\.unreadHints))
        let claims = Dispatch.Claims(sends: recorded.value.sends, claimedAt: claimedAt)
        return Recorded(Decided(claims: claims, waiting: recorded.value.waiting), outbox: recorded.outbox)
    }

    /// Records decisions; a candidate alone that meets a lock waits.
    private func recordUnlessLocked(
        _ candidates: [Candidate],
        by rules: IntakeRules
    ) async throws -> Recorded<IntakeResult> {
        do {
            return try await context.ledger.intake(candidates, by: rules)
        } catch let error where error.isLockConflict && candidates.count == 1 {
            return Recorded(IntakeResult(sends: [], waiting: candidates), outbox: [])
        }
    }

    /// Rules that let a request through and want it known.
    private func report(_ candidate: Candidate) {
        guard candidate.possiblyPassed.contains(where: { !$0.notes.isEmpty }) else { return }
        guard let passed = candidate.at(.now).passed else { return }
        for rule in passed.notes {
            context.logger.log(
                .policyRecorded,
                [
                    .rule: .text(rule), .tenant: .text(candidate.key.tenant),
                    .requestID: .text(candidate.key.requestID), .region: .text(passed.region?.code ?? ""),
                ].adding(candidate.trace)
            )
        }
    }

    private func handOver(_ recorded: Recorded<Decided>) {
        context.outbox.append(recorded.outbox)
        guard !recorded.value.claims.sends.isEmpty else { return }
        claims.append([recorded.value.claims])
    }
}

// MARK: - Waiting records

extension Intake {
    /// Retries the records that wait for rows which another transaction locks, beside the others, until the worker stops.
    ///
    /// Nothing tells when a lock is gone. Offsets are committed past a record only once it is decided, so a worker that
    /// stops leaves what still waits to the next one.
    private func retryWaiting(_ commits: OffsetCommits) async {
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
        let tried = waiting.next(upTo: room)
        let screened = await screen.screen(tried.map(\.record))
        let taker: InFlight.Taker? = room < records.count ? .waitingRecords : nil
        guard let locked = await decide(screened, reserved: room, for: taker) else { return false }
        waiting.tried(tried, leaving: Set(locked.map(\.place)))
        commits.add(tried.map(\.position))
        return true
    }
}
