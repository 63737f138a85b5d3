// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import Logging
import Logs
import ServiceLifecycle
import Synchronization
import Verification

/// The first stage: decides requests, a batch of records in one transaction.
///
/// PostgreSQL owns a request once that transaction is committed, and only then is its offset committed. So a slow
/// provider never blocks a partition, and a rebalance never repeats a send.
struct Intake: Service {
    let context: StageContext
    let commits: OffsetCommits
    let screen: RecordScreen
    let brake: BrakeSource
    let budgets: BudgetWallet

    private var waiting: WaitingRecords { commits.waiting }

    func run() async throws {
        try await withGracefulShutdownHandler {
            var next = try await read()
            while let (batch, screened) = next, await waitForRoom(batch) {
                next = try await decideAndRead(batch, screened)
            }
        } onGracefulShutdown: {
            commits.source.stopReading()
            context.inFlight.stopWaiting()
        }
    }

    /// Decides a batch, and reads the next one; nil when the worker stops.
    ///
    /// Reads ahead only after a full batch. At low load it reads after the decision, so that records accumulate into
    /// one batch.
    private func decideAndRead(
        _ batch: SourceBatch,
        _ screened: ScreenedRecords
    ) async throws -> (SourceBatch, ScreenedRecords)? {
        guard batch.records.count == largestBatch else {
            return try await decide(batch, screened) ? read() : nil
        }
        async let ahead = read()
        return try await decide(batch, screened) ? ahead : nil
    }

    /// Reads and screens the next batch; nil when the worker stops.
    private func read() async throws -> (SourceBatch, ScreenedRecords)? {
        guard let batch = try await commits.source.nextBatch(maximum: largestBatch) else { return nil }
        return await context.progress.during(.intake) { (batch, await screen.screen(batch.records)) }
    }

    /// Maximum of records in one transaction: each may become a send, which needs a permit of `InFlight`.
    private var largestBatch: Int { min(context.settings.batchSize, max(1, context.settings.maxInFlight / 2)) }

    /// Reserves a permit for each record of a batch, since each may become a send; false when the worker stops first.
    private func waitForRoom(_ batch: SourceBatch) async -> Bool {
        await waiting.waitForRoom()
        return await context.inFlight.waitForRoom(batch.records.count)
    }

    /// Decides a batch and passes on the results; false when the database stayed unreachable until the worker's stop.
    private func decide(_ batch: SourceBatch, _ screened: ScreenedRecords) async -> Bool {
        await context.progress.during(.intake) {
            context.observe(.intakeRead)
            // Screen again if the policy or the keys were reloaded during the wait for permits.
            let screened = screen.isCurrent(screened) ? screened : await screen.screen(batch.records)
            let (free, behind) = waiting.split(screened.candidates)
            let room = batch.records.count
            guard let locked = await recordAndPassOn(screened.only(free), reserved: room) else { return false }
            waiting.add(behind + locked, at: batch.position)
            commits.positions.append([batch.position])
            return true
        }
    }

    /// Records decisions, for whose sends permits are reserved, and passes them on.
    ///
    /// Returns the candidates whose rows another transaction locks; nil when the database stayed unreachable until the
    /// worker's stop.
    private func recordAndPassOn(
        _ screened: ScreenedRecords,
        reserved: Int,
        for claimant: InFlight.Claimant? = nil
    ) async -> [Candidate]? {
        let start = ContinuousClock.now
        let records = screened.candidates.map(\.record)
        // After a failure, screen again to get fresh ids: rows with the previous ids may have been written.
        let first = Mutex<ScreenedRecords?>(screened)
        let parts = await context.retry.recordAll(records, .intake) { records, reason in
            if let screened = first.withLock({ $0.take() }) { return try await recordOnce(screened, as: reason) }
            return try await recordOnce(screen.screen(records), as: reason)
        }
        guard let parts else { return nil }
        context.observe(.intakeRecorded)
        context.inFlight.claim(parts.reduce(0) { $0 + $1.recorded.value.sends.count }, of: reserved, for: claimant)
        for (recorded, claimedAt) in parts {
            context.outbox.append(recorded.outbox)
            if recorded.value.sends.isEmpty { continue }
            context.claims.append([Dispatch.Claims(sends: recorded.value.sends, claimedAt: claimedAt)])
        }
        let waiting = parts.flatMap(\.recorded.value.waiting)
        let places = Set(waiting.map(\.place))
        let decided =
            waiting.isEmpty ? records : screened.candidates.filter { !places.contains($0.place) }.map(\.record)
        context.statistics.noteDecided(decided, since: start, at: context.now())
        return waiting
    }

    /// Records decisions in one transaction; a single candidate that meets a lock waits.
    private func recordOnce(
        _ screened: ScreenedRecords,
        as reason: DeadLetterReason?
    ) async throws -> (recorded: Recorded<IntakeResult>, claimedAt: ContinuousClock.Instant) {
        let claimedAt = ContinuousClock.now
        let candidates = screened.candidates.map { reason.map($0.deadLetter) ?? $0 }
        var rules = screened.rules
        rules.brake = brake.current
        rules.purse = try await budgets.purse(for: candidates)
        do {
            let recorded = try await context.ledger.intake(candidates, by: rules)
            // Report only after the transaction, so that a batch that is retried after a failure is reported once.
            let waiting = Set(recorded.value.waiting.map(\.place))
            let decided = candidates.lazy.filter { !waiting.contains($0.place) }
            let effects = recorded.value.brake
            brake.note(effects)
            for overruled in brake.new(effects.overruled) { report(overruled) }
            context.statistics.noteBrake(refused: effects.refused, recorded: effects.recorded.count)
            let spending = recorded.value.budgets
            budgets.note(spending)
            let stops =
                effects.recorded.map { ($0.request, [$0.key.scope.rule]) }
                + spending.recorded.map { ($0.request, [$0.rule]) }
            let rules = Dictionary(stops, uniquingKeysWith: +)
            for candidate in decided { report(candidate, rules[candidate.key] ?? []) }
            context.statistics.noteUnread(decided.flatMap(\.unreadHints))
            return (recorded, claimedAt)
        } catch {
            // A purse whose decisions may be stored is kept: it may be spent.
            if error.hasSurelyWrittenNothing { budgets.note(BudgetEffects(left: rules.purse)) }
            guard error.isLockConflict, candidates.count == 1 else { throw error }
            return (Recorded(IntakeResult(sends: [], waiting: candidates), outbox: []), claimedAt)
        }
    }

    private func report(_ overruled: BrakeEffects.Overruled) {
        let turn = overruled.turn
        context.logger.log(
            .brakeOverridden,
            BrakeNotices.fields(of: turn.key, turn.tenant, region: overruled.region.code)
                .merging([.order: .text(overruled.order.rawValue)]) { $1 }
        )
    }

    /// Logs the rules that let a request pass and are configured to be recorded.
    private func report(_ candidate: Candidate, _ stops: [String]) {
        guard !stops.isEmpty || candidate.possibleOutcomes.contains(where: { !$0.notes.isEmpty }) else { return }
        guard let passed = candidate.at(.now).passed else { return }
        for rule in passed.notes + stops {
            context.logger.log(
                .policyRecorded,
                [
                    .rule: .text(rule), .tenant: .text(candidate.key.tenant),
                    .requestID: .text(candidate.key.requestID), .region: .text(passed.region?.code ?? ""),
                ].adding(candidate.trace)
            )
        }
    }
}

// MARK: - Probes

extension Intake {
    /// Renews this worker's part of the probes of half-open scopes.
    func updateShare() async {
        guard brake.current.count(of: .blocked) + brake.current.count(of: .halfOpen) > 0 else { return }
        guard let share = await commits.source.ownedShare() else { return }
        brake.setShare(share)
    }
}

// MARK: - Waiting records

extension Intake {
    /// Retries records whose rows another transaction locks, as many as there are permits.
    ///
    /// PostgreSQL sends no notification when a lock is released. Offsets past a record are committed only after its
    /// decision, so the records that wait at a stop are read again by the next worker.
    func retryWaiting() async {
        let count = waiting.all.count
        if count == 0 { return }
        context.logger.log(.intakeWaiting, [.records: LogValue(count)])
        await context.progress.during(.intake) {
            let room = context.inFlight.reserve(upTo: min(count, largestBatch), for: .waitingRecords)
            let tried = waiting.next(upTo: room)
            let screened = await screen.screen(tried.map(\.record))
            let claimant: InFlight.Claimant? = room < count ? .waitingRecords : nil
            guard let locked = await recordAndPassOn(screened, reserved: room, for: claimant) else { return }
            waiting.tried(tried, leaving: Set(locked.map(\.place)))
            commits.positions.append(tried.map(\.position))
        }
    }
}
