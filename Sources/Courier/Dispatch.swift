// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import ServiceLifecycle
import Verification

/// The second stage: claimed sends become messages at a provider.
///
/// A send waits for its provider while it is only claimed, for a moment; what cannot go then is handed back with a delay,
/// so that a provider that is slow or down holds up nothing else. A claim is marked just before its first byte leaves, a
/// batch in one statement. It holds no database connection while a provider is called, and every call ends well before
/// the claim's lease.
struct Dispatch: Service {
    /// Sends claimed together, and when by this process's own clock.
    struct Claims: Sendable {
        let sends: [ClaimedSend]
        let claimedAt: ContinuousClock.Instant
    }

    /// A send whose first provider takes it now.
    private struct Ready: Sendable {
        let send: ClaimedSend
        let claimedAt: ContinuousClock.Instant
        let providers: [String]
    }

    let claims: BatchQueue<Claims>
    let results: BatchQueue<SendResult>
    let ledger: any Ledger
    let desk: ProviderDesk

    /// Where the calls run: on the thread that speaks to the providers there is no change of threads in a call.
    let executor: (any TaskExecutor)?
    let policies: PolicySource
    let settings: CourierSettings
    let inFlight: InFlight
    let retry: LedgerRetry
    let progress: Progress
    let statistics: Statistics
    let logger: Logger

    /// How long a send waits for its provider's turn before it is handed back.
    private static let patience = Duration.seconds(1)

    /// However long a provider pauses: it may be back sooner.
    private static let longestPause = Duration.seconds(2)

    func run() async throws {
        let ready = BatchQueue<Ready>()
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await markAndCall(ready) }
                await withDiscardingTaskGroup { waiting in
                    for await batches in claims.batches(of: .max) {
                        await progress.during(.dispatch) {
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

    /// Lets go what its provider takes now; what waits for a turn follows, each when it has one.
    private func admit(_ claims: Claims, to ready: BatchQueue<Ready>, _ waiting: inout DiscardingTaskGroup) {
        settings.observe(.dispatchClaimed)
        var going: [Ready] = []
        var paused: [SendResult] = []
        for send in claims.sends {
            let candidate = Ready(send: send, claimedAt: claims.claimedAt, providers: order(for: send))
            if let pause = send.isFictional ? nil : desk.pause(of: candidate.providers) {
                paused.append(handBack(send, for: pause))
            } else if let first = candidate.providers.first, desk.isLimited(first) {
                waiting.addTask {
                    if await desk.turn(first, within: Self.patience) {
                        ready.append([candidate])
                    } else {
                        results.append([handBack(send, for: Self.patience)])
                    }
                }
            } else {
                going.append(candidate)
            }
        }
        if !going.isEmpty { ready.append(going) }
        if !paused.isEmpty { results.append(paused) }
    }

    /// The providers to ask, in order; for a test number the one that sends nothing.
    private func order(for send: ClaimedSend) -> [String] {
        guard !send.isFictional else { return [TestNumberProvider.name] }
        guard let tenant = policies.current.tenants[send.tenant] else { return [] }
        let route = tenant.routes.route(for: send.recipient.channel, region: send.region ?? .unknown)
        return desk.order(route, used: send.usedProviders)
    }

    /// A claim that goes back unmarked; the times vary, so that not all come back at once.
    private func handBack(_ send: ClaimedSend, for pause: Duration) -> SendResult {
        SendResult(
            send: send.reference,
            disposition: .retry(after: min(pause, Self.longestPause) * Double.random(in: 0.5...1)),
            attempts: send.attempts,
            attempt: nil
        )
    }

    // MARK: - Marking

    private func markAndCall(_ ready: BatchQueue<Ready>) async {
        await withDiscardingTaskGroup { group in
            for await batch in ready.batches(of: settings.batchSize) {
                await progress.during(.dispatch) {
                    let marked = await mark(batch)
                    for candidate in batch where marked.contains(candidate.send.id) {
                        group.addTask(executorPreference: executor) {
                            await progress.during(.dispatch) { await complete(candidate) }
                        }
                    }
                    await giveBack(batch.map(\.send).filter { !marked.contains($0.id) })
                }
            }
        }
    }

    /// Marks claims and returns those that may leave.
    private func mark(_ batch: [Ready]) async -> Set<SendID> {
        // A mark whose answer was lost is made again, by the same claim: nothing has left before it is known.
        let oldest = batch.map(\.claimedAt).min() ?? .now
        let marked = await retry.until(oldest + settings.lease / 2, .dispatch) {
            try await ledger.markDispatching(batch.map(\.send))
        }
        if let marked {
            settings.observe(.dispatchMarked)
            return marked
        }
        // The sweep finds the sends when the lease is over.
        logger.log(.dispatchMarkFailed, [.sends: LogValue(batch.count)])
        return []
    }

    /// Claims that may not leave any more are settled by the sweep.
    private func giveBack(_ claims: [ClaimedSend]) async {
        guard !claims.isEmpty else { return }
        _ = await retry.once(.dispatch) { try await ledger.release(claims) }
        inFlight.remove(claims.count)
    }

    // MARK: - Calling

    private func complete(_ candidate: Ready) async {
        let result = await attempt(candidate)
        results.append([result])
        giveReceipts(of: candidate.send, result)
    }

    /// Calls providers, one after the other, until the plan has come to an end.
    private func attempt(_ candidate: Ready) async -> SendResult {
        let send = candidate.send
        var plan = AttemptPlan(providers: candidate.providers, idempotent: desk.idempotent, attempts: send.attempts)
        var step = plan.start()
        var last: SendResult.Attempt?
        var hasTurn = true
        while true {
            switch step {
            case .finish(let disposition):
                return SendResult(
                    send: send.reference,
                    disposition: settled(disposition, send, attempts: plan.attempts),
                    attempts: plan.attempts,
                    attempt: last,
                    verification: send.verification
                )
            case .call(let name):
                let elapsed = ContinuousClock.now - candidate.claimedAt
                guard elapsed < settings.lease - settings.callDeadline * 5 / 4 else {
                    step = plan.runOut()
                    continue
                }
                if !hasTurn, await !desk.turn(name, within: Self.patience) {
                    step = plan.passOver(for: Self.patience)
                    continue
                }
                hasTurn = false
                let message = message(send, elapsed: elapsed)
                let start = (instant: ContinuousClock.now, time: settings.now())
                switch await call(name, send, message) {
                case .pauses(let wait):
                    step = plan.passOver(for: min(wait, Self.longestPause))
                case .answered(let answer):
                    settings.observe(.dispatchAnswered)
                    note(answer, by: name, of: candidate, since: start)
                    report(answer, of: name, send, since: start.instant)
                    last = SendResult.Attempt(provider: name, answer: answer, encoding: message?.content.encoding)
                    step = plan.step(after: answer)
                }
            }
        }
    }

    private func note(
        _ answer: ProviderAnswer,
        by provider: String,
        of candidate: Ready,
        since start: (instant: ContinuousClock.Instant, time: Timestamp)
    ) {
        guard !candidate.send.isFictional else { return }
        statistics.noteCall(
            Statistics.Call(
                provider: provider,
                outcome: answer.outcome,
                waited: start.instant - candidate.claimedAt,
                took: ContinuousClock.now - start.instant,
                age: candidate.send.reference.appendedAt.map { start.time - $0 }
            )
        )
    }

    private func call(_ name: String, _ send: ClaimedSend, _ message: OutboundMessage?) async -> ProviderDesk.Outcome {
        guard let message else { return .answered(ProviderAnswer(.misconfigured, errorCode: "no_message")) }
        guard send.isFictional else { return await desk.call(name, message) }
        return .answered(await TestNumberProvider(fault: testNumber(of: send)?.fault).send(message))
    }

    /// What a plan's end means for a send that may be, or has been, handed over twice.
    ///
    /// An unknown outcome becomes one more attempt where the operator prefers two messages to none. When that attempt
    /// surely failed, the first one is as unknown as before.
    private func settled(_ disposition: SendDisposition, _ send: ClaimedSend, attempts: Int16) -> SendDisposition {
        switch disposition {
        case .unknown where settings.repeatsUnknown && !send.isRepeat && attempts < AttemptPlan.maximumAttempts:
            .repeatOnce
        case .failed where send.isRepeat: .unknown(.timeout)
        default: disposition
        }
    }

    private func testNumber(of send: ClaimedSend) -> TestNumber? {
        guard send.isFictional else { return nil }
        return policies.current.tenants[send.tenant]?.testNumbers.first { .phone($0.number) == send.recipient }
    }

    /// A test number's receipt that comes twice; the second one changes nothing.
    private func giveReceipts(of send: ClaimedSend, _ result: SendResult) {
        guard testNumber(of: send)?.fault == .duplicateReceipt, result.disposition == .sent else { return }
        let receipt = SendResult(
            send: result.send,
            disposition: .delivered,
            attempts: result.attempts,
            attempt: result.attempt
        )
        inFlight.add(2)
        results.append([receipt, receipt])
    }

    /// The message for a send, or nil where its parts make none.
    private func message(_ send: ClaimedSend, elapsed: Duration) -> OutboundMessage? {
        send.content(tenant: policies.current.tenants[send.tenant], elapsed: elapsed).map { content in
            OutboundMessage(
                sendID: send.id,
                content: content,
                validity: send.validity(after: elapsed),
                callDeadline: settings.callDeadline,
                trace: send.reference.trace
            )
        }
    }

    private func report(
        _ answer: ProviderAnswer,
        of provider: String,
        _ send: ClaimedSend,
        since start: ContinuousClock.Instant
    ) {
        let event: LoggedEvent =
            switch answer.outcome {
            case .accepted: .providerAnswered
            case .misconfigured: .providerMisconfigured
            default: .providerRefused
            }
        logger.log(
            event,
            [
                .provider: .text(provider), .outcome: .text(answer.outcome.rawValue),
                .errorCode: .text(answer.errorCode ?? ""), .durationMilliseconds: .milliseconds(.now - start),
                .verificationID: LogValue(send.reference.verificationID), .sendID: LogValue(send.id),
                .requestID: .text(send.reference.requestID), .tenant: .text(send.tenant),
                .region: .text(send.region?.code ?? ""),
            ].adding(send.reference.trace)
        )
    }
}

extension SendResult.Attempt {
    init(provider: String, answer: ProviderAnswer, encoding: TextEncoding?) {
        self.init(
            provider: provider,
            messageID: answer.messageID,
            segments: answer.segments ?? encoding?.segments,
            encoding: encoding?.alphabet.rawValue,
            errorCode: answer.errorCode
        )
    }
}

extension MessageContent {
    /// How the text travels; nil for what is no SMS.
    fileprivate var encoding: TextEncoding? {
        guard case .sms(let message) = self else { return nil }
        return TextEncoding(message.text)
    }
}
