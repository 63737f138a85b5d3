// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import Verification

/// Carries out a marked send's plan: calls its providers one after the other until the plan ends.
struct Handover: Sendable {
    let context: StageContext
    let desk: ProviderDesk
    let policies: PolicySource

    /// The last message, and the provider that it was made for.
    private typealias Handed = (provider: String, message: OutboundMessage?)

    /// Follows a plan to its end, or to a call that needs a mark of its own.
    func carryOut(_ marked: Dispatch.Ready) async -> Dispatch.Ready {
        var ready = marked
        var handed: Handed?
        while case .call(let provider) = ready.plan.step {
            let attempt = await attempt(provider, of: ready, &handed)
            ready.plan.take(attempt, encoding: handed?.message?.content.encoding, timeLeft: ready.timeLeft)
            ready.isCalled = true
            await waitForToken(&ready)
            if needsMark(ready, since: marked) { break }
        }
        return ready
    }

    /// Waits for a rate-limit token of the next provider; skips providers that have none.
    private func waitForToken(_ ready: inout Dispatch.Ready) async {
        while case .call(let provider) = ready.plan.step, await !desk.waitForToken(provider) {
            // Pause for at most half of the remaining time, so that the retry precedes the message's expiry.
            let left = ready.timeLeft
            ready.plan.take(.skipped(for: min(desk.retryAfter(from: provider), left / 2)), timeLeft: left)
        }
    }

    /// True when the claim's mark names another provider than the next one: if this worker died during the call, a
    /// repeat could choose that provider again.
    private func needsMark(_ ready: Dispatch.Ready, since marked: Dispatch.Ready) -> Bool {
        context.settings.repeatsUnknown && !ready.send.isRepeat && ready.plan.provider != marked.plan.provider
    }

    /// Calls a provider, if there is time for it.
    private func attempt(
        _ provider: String,
        of ready: Dispatch.Ready,
        _ handed: inout Handed?
    ) async -> AttemptPlan.Attempt {
        // The call must end before the claim's lease, and begin before the message is too late.
        let elapsed = ContinuousClock.now - ready.claimedAt
        let latest = min(context.settings.lease - context.settings.callDeadline * 5 / 4, ready.send.timeLeft)
        guard elapsed < latest else { return .tooLate }
        // A repeat under an idempotency key must be identical to the byte, or the provider rejects it.
        let message = handed?.provider == provider ? handed?.message : message(ready, elapsed: elapsed)
        handed = (provider, message)
        let start = (instant: ContinuousClock.now, time: context.now())
        let attempt = await call(provider, ready.send, message)
        guard case .answered(let answer) = attempt else { return attempt }
        switch answer.untried {
        case .tooLate?:
            return .tooLate
        case .busy?, .tooManyFiles?:
            report(answer, of: provider, ready.send, since: start.instant)
            return .skipped(for: ProviderDesk.maxWait)
        case nil:
            context.observe(.dispatchAnswered)
            note(answer, by: provider, of: ready, since: start)
            report(answer, of: provider, ready.send, since: start.instant)
            return attempt
        }
    }

    /// Returns the result of a send whose plan has ended, followed by the receipts that a test number's fault adds.
    func results(of ready: Dispatch.Ready, _ end: SendDisposition) -> [SendResult] {
        let result = ready.plan.result(end, of: ready.send, timeLeft: ready.timeLeft, policy: policies.current)
        guard result.disposition == .sent, testNumber(of: ready.send)?.fault == .duplicateReceipt else {
            return [result]
        }
        let receipt = SendResult(
            send: result.send,
            disposition: .delivered,
            attempts: result.attempts,
            attempt: result.attempt
        )
        return [result, receipt, receipt]
    }

    private func note(
        _ answer: ProviderAnswer,
        by provider: String,
        of ready: Dispatch.Ready,
        since start: (instant: ContinuousClock.Instant, time: Timestamp)
    ) {
        guard !ready.send.isFictional else { return }
        context.statistics.noteCall(
            Statistics.Call(
                provider: provider,
                outcome: answer.outcome,
                waited: start.instant - ready.claimedAt,
                took: ContinuousClock.now - start.instant,
                age: ready.send.reference.appendedAt.map { start.time - $0 }
            )
        )
    }

    private func call(_ name: String, _ send: ClaimedSend, _ message: OutboundMessage?) async -> AttemptPlan.Attempt {
        guard let message else { return .answered(ProviderAnswer(.misconfigured, errorCode: "no_message")) }
        guard send.isFictional else { return await desk.call(name, message) }
        return .answered(await TestNumberProvider(fault: testNumber(of: send)?.fault).send(message))
    }

    private func testNumber(of send: ClaimedSend) -> TestNumber? {
        guard send.isFictional else { return nil }
        return policies.current.tenants[send.tenant]?.testNumbers.first { .phone($0.number) == send.recipient }
    }

    /// Builds the message of a send; nil when its content cannot be built.
    private func message(_ ready: Dispatch.Ready, elapsed: Duration) -> OutboundMessage? {
        let send = ready.send
        return send.content(tenant: policies.current.tenants[send.tenant], elapsed: elapsed).map { content in
            OutboundMessage(
                sendID: send.id,
                content: content,
                validity: send.validity(after: elapsed),
                expiresAt: context.now() + send.validity(after: elapsed),
                callDeadline: context.settings.callDeadline,
                leaveBy: ready.claimedAt + send.timeLeft,
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
        context.logger.log(
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

extension MessageContent {
    /// The encoding of an SMS text; nil for other channels.
    fileprivate var encoding: TextEncoding? {
        guard case .sms(let message) = self else { return nil }
        return TextEncoding(message.text)
    }
}

/// Simulates a provider's answers for test numbers, and sends nothing.
///
/// A test number's message takes the same path as every other up to this call, so its fault has the same effect as that
/// fault of a real provider.
struct TestNumberProvider: MessageProvider {
    static let name = "test"

    var name: String { Self.name }
    let fault: TestNumber.Fault?

    /// Duration of a call with the fault `slow`.
    var slowness = Duration.seconds(5)

    func send(_ message: OutboundMessage) async -> ProviderAnswer {
        switch fault {
        case .optedOut: return ProviderAnswer(.optedOut, errorCode: "opted_out")
        case .invalid: return ProviderAnswer(.refused, errorCode: "invalid_number")
        case .throttled: return ProviderAnswer(.throttled, errorCode: "throttled", retryAfter: .seconds(1))
        case .providerDown: return ProviderAnswer(.notSent, errorCode: "connection_refused")
        case .slow:
            // The delay is the simulated fault.
            do { try await Task.sleep(for: min(slowness, message.callDeadline)) } catch {
                return ProviderAnswer(.unknown, errorCode: "cancelled")
            }
            return ProviderAnswer(.accepted, messageID: message.sendID.description)
        case .lostReceipt, .duplicateReceipt, nil:
            return ProviderAnswer(.accepted, messageID: message.sendID.description)
        }
    }
}
