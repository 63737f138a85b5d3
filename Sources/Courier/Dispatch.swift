// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import ServiceLifecycle
import Verification

/// The second stage: claimed sends become messages at a provider.
///
/// A send waits for its provider while it is only claimed, for a moment; what cannot go then goes to the next provider
/// of its route, or is handed back with a delay, so that one that is slow or down holds up nothing else. A claim is
/// marked just before its first byte leaves, a batch in one statement. It holds no database connection while a provider
/// is called, and every call ends well before the claim's lease.
struct Dispatch: Service {
    /// Sends claimed together, and when by this process's own clock: before the transaction, whose time their lease counts.
    struct Claims: Sendable {
        let sends: [ClaimedSend]
        let claimedAt: ContinuousClock.Instant
    }

    /// A send whose next provider takes it now.
    struct Ready: Sendable {
        let send: ClaimedSend
        let claimedAt: ContinuousClock.Instant
        private(set) var plan: AttemptPlan

        /// The plan's next step.
        private(set) var step: AttemptPlan.Step

        /// True once its first provider has been called or passed over.
        private(set) var isCalled = false

        init(_ send: ClaimedSend, claimedAt: ContinuousClock.Instant, plan: AttemptPlan) {
            self.send = send
            self.claimedAt = claimedAt
            self.plan = plan
            step = self.plan.start()
        }

        /// The same after a call.
        func going(on plan: AttemptPlan, to step: AttemptPlan.Step) -> Ready {
            var next = self
            (next.plan, next.step, next.isCalled) = (plan, step, true)
            return next
        }

        /// The provider that it is marked for.
        var provider: String? { plan.provider }

        /// What its mark says, so that a repeat goes to nobody who refused it or may have it.
        var tried: [String]? {
            send.isRepeat ? send.repetition?.triedProviders : plan.refusers + [provider].compactMap(\.self)
        }
    }

    let context: StageContext
    let claims: BatchQueue<Claims>
    let results: BatchQueue<SendResult>
    let router: SendRouter
    let handover: Handover

    /// Where the calls run: on the thread that speaks to the providers there is no change of threads in a call.
    let executor: (any TaskExecutor)?

    private var desk: ProviderDesk { router.desk }

    func run() async throws {
        let ready = BatchQueue<Ready>()
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await markAndCall(ready) }
                await withDiscardingTaskGroup { waiting in
                    for await batches in claims.batches(of: .max) {
                        await context.progress.during(.dispatch) {
                            for batch in batches { admit(batch, to: ready, &waiting) }
                        }
                    }
                }
                ready.finish()
            }
            results.finish()
        } onGracefulShutdown: {
            claims.finish()
        }
    }

    // MARK: - Who may go

    /// Lets go what its provider takes now; what needs a turn follows, each when it has one.
    private func admit(_ claims: Claims, to ready: BatchQueue<Ready>, _ waiting: inout DiscardingTaskGroup) {
        context.settings.observe(.dispatchClaimed)
        var going: [Ready] = []
        var paused: [SendResult] = []
        for send in claims.sends {
            switch router.way(of: send) {
            case .now(let providers):
                going.append(planned(send, of: claims, providers))
            case .inTurn(let providers):
                waiting.addTask { await wait(send, of: claims, for: providers, ready) }
            case .paused(let pause) where pause >= send.timeLeft(since: claims.claimedAt):
                paused.append(tooLate(send))
            case .paused(let pause):
                paused.append(handBack(send, of: claims.claimedAt, for: min(pause, AttemptPlan.longestPause)))
            }
        }
        if !going.isEmpty { ready.append(going) }
        if !paused.isEmpty { results.append(paused) }
    }

    private func planned(_ send: ClaimedSend, of claims: Claims, _ providers: [String]) -> Ready {
        Ready(
            send,
            claimedAt: claims.claimedAt,
            plan: AttemptPlan(
                providers: providers,
                idempotent: desk.idempotent,
                refusers: send.refusers,
                attempts: send.attempts,
                repetition: send.repetition,
                repeatsUnknown: context.settings.repeatsUnknown,
                onOptOut: router.onOptOut(for: send),
                isOptedOut: send.optedOutAt != nil
            )
        )
    }

    /// Lets a send go to the first of its providers that has a turn for it, or hands it back.
    private func wait(
        _ send: ClaimedSend,
        of claims: Claims,
        for candidates: [String],
        _ going: BatchQueue<Ready>
    ) async {
        var providers = candidates
        var shortest = ProviderDesk.longestAbsence
        var crowded: String?
        for provider in candidates {
            if let pause = desk.pause(of: provider) {
                shortest = min(shortest, pause)
            } else if await desk.turn(provider) {
                going.append([planned(send, of: claims, providers)])
                return
            } else {
                crowded = crowded ?? provider
            }
            // What others refuse this one has not seen: it is asked behind them.
            providers.removeFirst()
            providers.append(provider)
        }
        if let crowded { shortest = min(shortest, desk.sendAway(from: crowded)) }
        results.append([handBack(send, of: claims.claimedAt, for: shortest)])
    }

    /// The end of a send that none of its providers takes before its time is over.
    private func tooLate(_ send: ClaimedSend) -> SendResult {
        SendResult(
            send: send.reference,
            disposition: send.repetition.map { .unknown($0.reason) } ?? .failed(.providerUnavailable),
            attempts: send.attempts,
            attempt: nil,
            doubtful: send.repetition?.doubtful,
            verification: send.verification
        )
    }

    /// A claim that goes back unmarked, for no longer than its message may still leave.
    ///
    /// The times vary, so that not all come back at once.
    private func handBack(
        _ send: ClaimedSend,
        of claimedAt: ContinuousClock.Instant,
        for pause: Duration
    ) -> SendResult {
        SendResult(
            send: send.reference,
            disposition: .retry(after: min(pause, send.timeLeft(since: claimedAt)) * Double.random(in: 0.5...1)),
            attempts: send.attempts,
            attempt: nil
        )
    }

    // MARK: - Marking

    private func markAndCall(_ ready: BatchQueue<Ready>) async {
        await withDiscardingTaskGroup { group in
            for await batch in ready.batches(of: context.settings.batchSize) {
                group.addTask { await markAndCall(batch, ready) }
            }
        }
    }

    /// Marks some claims and calls their providers; the next ones do not wait for it.
    private func markAndCall(_ batch: [Ready], _ ready: BatchQueue<Ready>) async {
        let marked = await context.progress.during(.dispatch) { await mark(batch) }
        await withDiscardingTaskGroup { group in
            for candidate in batch where marked.contains(candidate.send.claim) {
                group.addTask(executorPreference: executor) {
                    await context.progress.during(.call) { await call(candidate, ready) }
                }
            }
            let left = batch.filter { !marked.contains($0.send.claim) }
            // Of one that was called the attempts are known, and written.
            let called = left.filter(\.isCalled).compactMap { $0.plan.handedBack($0.send) }
            if !called.isEmpty { results.append(called) }
            let uncalled = left.filter { !$0.isCalled }.map(\.send)
            if !uncalled.isEmpty { await giveBack(uncalled) }
        }
    }

    /// Marks claims and returns those that may leave.
    private func mark(_ batch: [Ready]) async -> Set<SendClaim> {
        // A mark whose answer was lost is made again, by the same claim: nothing has left before it is known.
        let oldest = batch.map(\.claimedAt).min() ?? .now
        var tried: [SendClaim: [String]] = [:]
        if context.settings.repeatsUnknown {
            for candidate in batch { tried[candidate.send.claim] = candidate.tried }
        }
        let marked = await context.retry.run(.dispatch, .until(oldest + context.settings.lease / 2)) { [tried] in
            try await context.ledger.markDispatching(batch.map(\.send), tried: tried)
        }
        if let marked {
            context.settings.observe(.dispatchMarked)
            return marked
        }
        context.logger.log(.dispatchMarkFailed, [.sends: LogValue(batch.count)])
        return []
    }

    /// Hands back claims that may not leave any more, and those whose mark got no answer and may have been made.
    private func giveBack(_ claims: [ClaimedSend]) async {
        await context.progress.during(.dispatch) {
            _ = await context.retry.run(.dispatch, .until(.now + context.settings.lease)) {
                try await context.ledger.release(claims)
            }
        }
        context.inFlight.remove(claims.count)
    }

    // MARK: - Calling

    private func call(_ candidate: Ready, _ ready: BatchQueue<Ready>) async {
        switch await handover.outcome(of: candidate) {
        case .over(let outcome):
            context.inFlight.add(outcome.count - 1)
            results.append(outcome)
        case .goesOn(let next):
            // A worker that stops marks nothing more: another one takes it over.
            if !ready.append([next]) { results.append([next.plan.handedBack(next.send)].compactMap(\.self)) }
        }
    }
}

extension ClaimedSend {
    /// How long its message may still leave, by this process's own clock.
    func timeLeft(since claimedAt: ContinuousClock.Instant) -> Duration {
        max(.zero, timeLeft - (ContinuousClock.now - claimedAt))
    }
}
