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
        var plan: AttemptPlan

        /// True after its first provider was called or skipped.
        var isCalled = false

        var timeLeft: Duration { send.timeLeft(since: claimedAt) }

        /// The providers written into its mark: a repeat avoids those that refused the message or may have it.
        var tried: [String]? {
            send.isRepeat ? send.repetition?.triedProviders : plan.refusers + [plan.provider].compactMap(\.self)
        }
    }

    private let context: StageContext
    private let desk: ProviderDesk
    private let router: SendRouter
    private let handover: Handover

    /// The executor of the calls: on the thread that serves the providers' connections, a call needs no thread switch.
    private let executor: (any TaskExecutor)?

    init(
        context: StageContext,
        desk: ProviderDesk,
        policies: PolicySource,
        shares: RouteShareSource,
        executor: (any TaskExecutor)?
    ) {
        self.context = context
        self.desk = desk
        self.executor = executor
        router = SendRouter(
            desk: desk,
            policies: policies,
            shares: shares,
            repeatsUnknown: context.settings.repeatsUnknown
        )
        handover = Handover(context: context, desk: desk, policies: policies)
    }

    // MARK: - Routing

    /// Queues sends whose provider is free now; sends that need a rate-limit token wait for it in tasks of their own.
    func route(_ batches: [Claims], _ waiting: inout DiscardingTaskGroup) {
        for claims in batches {
            context.observe(.dispatchClaimed)
            let claimedAt = claims.claimedAt
            var ready: [Ready] = []
            var paused: [SendResult] = []
            for send in claims.sends {
                switch router.route(for: send) {
                case .now(let providers):
                    ready.append(Ready(send: send, claimedAt: claimedAt, plan: router.plan(for: send, providers)))
                case .withToken(let providers):
                    waiting.addTask { await waitForToken(send, claimedAt, of: providers) }
                case .paused(let pause) where pause >= send.timeLeft(since: claimedAt):
                    paused.append(tooLate(send))
                case .paused(let pause):
                    paused.append(delayed(send, claimedAt, for: min(pause, AttemptPlan.longestPause)))
                }
            }
            if !ready.isEmpty { context.ready.append(ready) }
            if !paused.isEmpty { context.results.append(paused) }
        }
    }

    /// Waits until one of the send's providers has a rate-limit token for it, else releases the claim.
    private func waitForToken(
        _ send: ClaimedSend,
        _ claimedAt: ContinuousClock.Instant,
        of candidates: [String]
    ) async {
        var providers = candidates
        var shortest = ProviderDesk.longestBackoff
        var crowded: String?
        for provider in candidates {
            if let pause = desk.pause(of: provider) {
                shortest = min(shortest, pause)
            } else if await desk.waitForToken(provider) {
                context.ready.append([Ready(send: send, claimedAt: claimedAt, plan: router.plan(for: send, providers))])
                return
            } else {
                crowded = crowded ?? provider
            }
            // The next provider has not refused this send: move the current one behind it.
            providers.removeFirst()
            providers.append(provider)
        }
        if let crowded { shortest = min(shortest, desk.retryAfter(from: crowded)) }
        context.results.append([delayed(send, claimedAt, for: shortest)])
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
    private func delayed(
        _ send: ClaimedSend,
        _ claimedAt: ContinuousClock.Instant,
        for pause: Duration
    ) -> SendResult {
        SendResult(
            send: send.reference,
            disposition: .retry(after: min(pause, send.timeLeft(since: claimedAt)) * Double.random(in: 0.5...1)),
            attempts: send.attempts,
            attempt: nil,
            verification: send.verification
        )
    }

    // MARK: - Marking and calling

    /// Marks a batch of claims, then calls their providers; later batches do not wait for it.
    func markAndCall(_ batch: [Ready], _ group: inout DiscardingTaskGroup) {
        group.addTask {
            let marked = await context.progress.during(.dispatch) { await mark(batch) }
            await withDiscardingTaskGroup { group in
                for ready in batch where marked.contains(ready.send.claim) {
                    group.addTask(executorPreference: executor) {
                        await context.progress.during(.call) { await call(ready) }
                    }
                }
                await release(batch.filter { !marked.contains($0.send.claim) })
            }
        }
    }

    /// Marks claims and returns those that may be sent.
    private func mark(_ batch: [Ready]) async -> Set<SendClaim> {
        // Safe to repeat under the same claim after a lost answer: no message leaves before the mark is confirmed.
        let oldest = batch.map(\.claimedAt).min() ?? .now
        var tried: [SendClaim: [String]] = [:]
        if context.settings.repeatsUnknown {
            for ready in batch { tried[ready.send.claim] = ready.tried }
        }
        let marked = await context.retry.run(.dispatch, .until(oldest + context.settings.lease / 2)) { [tried] in
            try await context.ledger.markDispatching(batch.map(\.send), tried: tried)
        }
        if let marked {
            context.observe(.dispatchMarked)
            return marked
        }
        context.logger.log(.dispatchMarkFailed, [.sends: LogValue(batch.count)])
        return []
    }

    /// Releases claims that may not be sent any more, and claims whose mark got no answer and may exist.
    private func release(_ unmarked: [Ready]) async {
        // The earlier attempts of these sends are known: write them.
        let called = unmarked.filter(\.isCalled).compactMap { $0.plan.handedBack($0.send) }
        if !called.isEmpty { context.results.append(called) }
        let claims = unmarked.filter { !$0.isCalled }.map(\.send)
        if claims.isEmpty { return }
        await context.progress.during(.dispatch) {
            _ = await context.retry.run(.dispatch, .until(.now + context.settings.lease)) {
                try await context.ledger.release(claims)
            }
        }
        context.inFlight.remove(claims.count)
    }

    private func call(_ marked: Ready) async {
        let ready = await handover.carryOut(marked)
        switch ready.plan.step {
        case .finish(let end):
            let results = handover.results(of: ready, end)
            context.inFlight.add(results.count - 1)
            context.results.append(results)
        case .call:
            // The next provider needs a mark. A stopping worker makes no more: another worker takes the send over.
            if context.ready.append([ready]) { return }
            context.results.append([ready.plan.handedBack(ready.send)].compactMap(\.self))
        }
    }
}

extension ClaimedSend {
    /// The time in which its message may still be sent, by the local clock.
    func timeLeft(since claimedAt: ContinuousClock.Instant) -> Duration {
        max(.zero, timeLeft - (ContinuousClock.now - claimedAt))
    }
}
