// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import Verification

/// The second stage: submits claimed sends to their providers.
///
/// A send waits briefly for its provider while it is only claimed. If it cannot be sent by then, it moves to the next
/// provider of its route or is released with a delay, so that a slow or broken provider delays no other. A claim is
/// marked just before its first byte leaves, a whole batch in one statement. No database connection is held during a
/// call to a provider, and every call ends well before the claim's lease.
struct Dispatch: Sendable {
    /// Sends claimed together, and the local time just before: the lease starts later, at the transaction.
    struct Claims: Sendable {
        let sends: [ClaimedSend]
        let claimedAt: ContinuousClock.Instant
    }

    /// A send whose next provider can be called now.
    struct Ready: Sendable {
        let send: ClaimedSend
        let claimedAt: ContinuousClock.Instant
        private(set) var plan: AttemptPlan

        private(set) var step: AttemptPlan.Step

        /// True after its first provider was called or skipped.
        private(set) var isCalled = false

        init(_ send: ClaimedSend, claimedAt: ContinuousClock.Instant, plan: AttemptPlan) {
            self.send = send
            self.claimedAt = claimedAt
            self.plan = plan
            step = self.plan.start()
        }

        /// Returns the send with its plan and step after a call.
        func going(on plan: AttemptPlan, to step: AttemptPlan.Step) -> Ready {
            var next = self
            (next.plan, next.step, next.isCalled) = (plan, step, true)
            return next
        }

        /// The provider named in its mark.
        var provider: String? { plan.provider }

        /// The providers written into its mark: a repeat avoids those that refused the message or may have it.
        var tried: [String]? {
            send.isRepeat ? send.repetition?.triedProviders : plan.refusers + [provider].compactMap(\.self)
        }
    }

    let context: StageContext
    let router: SendRouter
    let handover: Handover

    /// The executor of the calls: on the thread that serves the providers' connections, a call needs no thread switch.
    let executor: (any TaskExecutor)?

    private var desk: ProviderDesk { router.desk }

    init(context: StageContext, desk: ProviderDesk, policies: PolicySource, executor: (any TaskExecutor)?) {
        self.context = context
        self.executor = executor
        router = SendRouter(desk: desk, policies: policies)
        handover = Handover(context: context, desk: desk, policies: policies)
    }

    // MARK: - Routing

    /// Queues sends whose provider is free now; sends that need a rate-limit token wait for it in tasks of their own.
    func route(_ batches: [Claims], _ waiting: inout DiscardingTaskGroup) {
        for claims in batches { route(claims, &waiting) }
    }

    private func route(_ claims: Claims, _ waiting: inout DiscardingTaskGroup) {
        context.settings.observe(.dispatchClaimed)
        var going: [Ready] = []
        var paused: [SendResult] = []
        for send in claims.sends {
            switch router.way(of: send) {
            case .now(let providers):
                going.append(planned(send, of: claims, providers))
            case .inTurn(let providers):
                waiting.addTask { await wait(send, of: claims, for: providers) }
            case .paused(let pause) where pause >= send.timeLeft(since: claims.claimedAt):
                paused.append(tooLate(send))
            case .paused(let pause):
                paused.append(handBack(send, of: claims.claimedAt, for: min(pause, AttemptPlan.longestPause)))
            }
        }
        if !going.isEmpty { context.ready.append(going) }
        if !paused.isEmpty { context.results.append(paused) }
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

    /// Waits until one of the send's providers has a rate-limit token for it, else releases the claim.
    private func wait(_ send: ClaimedSend, of claims: Claims, for candidates: [String]) async {
        var providers = candidates
        var shortest = ProviderDesk.longestAbsence
        var crowded: String?
        for provider in candidates {
            if let pause = desk.pause(of: provider) {
                shortest = min(shortest, pause)
            } else if await desk.turn(provider) {
                context.ready.append([planned(send, of: claims, providers)])
                return
            } else {
                crowded = crowded ?? provider
            }
            // The next provider has not refused this send: move the current one behind it.
            providers.removeFirst()
            providers.append(provider)
        }
        if let crowded { shortest = min(shortest, desk.sendAway(from: crowded)) }
        context.results.append([handBack(send, of: claims.claimedAt, for: shortest)])
    }

    /// Ends a send whose providers all stay paused until its message expires.
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

    /// Releases an unmarked claim with a delay that ends before the message expires.
    ///
    /// The delay is randomized, so that the released sends are not retried all at once.
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

    /// Marks a batch of claims and calls their providers; later batches do not wait for it.
    func markAndCall(_ batch: [Ready], _ group: inout DiscardingTaskGroup) {
        group.addTask { await markAndCall(batch) }
    }

    private func markAndCall(_ batch: [Ready]) async {
        let marked = await context.progress.during(.dispatch) { await mark(batch) }
        await withDiscardingTaskGroup { group in
            for candidate in batch where marked.contains(candidate.send.claim) {
                group.addTask(executorPreference: executor) {
                    await context.progress.during(.call) { await call(candidate) }
                }
            }
            let left = batch.filter { !marked.contains($0.send.claim) }
            // The earlier attempts of these sends are known: write them.
            let called = left.filter(\.isCalled).compactMap { $0.plan.handedBack($0.send) }
            if !called.isEmpty { context.results.append(called) }
            let uncalled = left.filter { !$0.isCalled }.map(\.send)
            if !uncalled.isEmpty { await giveBack(uncalled) }
        }
    }

    /// Marks claims and returns those that may be sent.
    private func mark(_ batch: [Ready]) async -> Set<SendClaim> {
        // Safe to repeat under the same claim after a lost answer: no message leaves before the mark is confirmed.
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

    /// Releases claims that may not be sent any more, and claims whose mark got no answer and may exist.
    private func giveBack(_ claims: [ClaimedSend]) async {
        await context.progress.during(.dispatch) {
            _ = await context.retry.run(.dispatch, .until(.now + context.settings.lease)) {
                try await context.ledger.release(claims)
            }
        }
        context.inFlight.remove(claims.count)
    }

    // MARK: - Calling

    private func call(_ candidate: Ready) async {
        switch await handover.outcome(of: candidate) {
        case .over(let outcome):
            context.inFlight.add(outcome.count - 1)
            context.results.append(outcome)
        case .goesOn(let next):
            // A stopping worker marks no more claims: another worker takes the send over.
            if !context.ready.append([next]) {
                context.results.append([next.plan.handedBack(next.send)].compactMap(\.self))
            }
        }
    }
}

extension ClaimedSend {
    /// The time in which its message may still be sent, by the local clock.
    func timeLeft(since claimedAt: ContinuousClock.Instant) -> Duration {
        max(.zero, timeLeft - (ContinuousClock.now - claimedAt))
    }
}
