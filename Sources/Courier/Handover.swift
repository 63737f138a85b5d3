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

    enum Outcome {
        /// The outcome of the send, followed by the receipts that a test number's fault adds.
        case over([SendResult])

        /// The next provider has granted a rate-limit token; the claim must be marked for it before the call.
        case goesOn(Dispatch.Ready)
    }

    func outcome(of candidate: Dispatch.Ready) async -> Outcome {
        let outcome = await firstOutcome(of: candidate)
        guard case .over(let results) = outcome, let result = results.first, result.disposition == .sent,
            testNumber(of: candidate.send)?.fault == .duplicateReceipt
        else { return outcome }
        let receipt = SendResult(
            send: result.send,
            disposition: .delivered,
            attempts: result.attempts,
            attempt: result.attempt
        )
        return .over([result, receipt, receipt])
    }

    private func firstOutcome(of candidate: Dispatch.Ready) async -> Outcome {
        let send = candidate.send
        var plan = candidate.plan
        var step = candidate.step
        var handed: (provider: String, message: OutboundMessage?)?
        var hasTurn = true
        while true {
            switch step {
            case .finish(let disposition):
                let timeLeft = send.timeLeft(since: candidate.claimedAt)
                return .over([plan.result(disposition, of: send, timeLeft: timeLeft)])
            case .call(let name):
                if !hasTurn, await !desk.turn(name) {
                    // Pause for at most half of the remaining time, so that the retry precedes the message's expiry.
                    let left = send.timeLeft(since: candidate.claimedAt)
                    step = plan.passOver(for: min(desk.sendAway(from: name), left / 2))
                    continue
                }
                hasTurn = false
                if needsMark(candidate, for: name) {
                    return .goesOn(candidate.going(on: plan, to: step))
                }
                // The call must end before the claim's lease, and begin before the message is too late.
                let elapsed = ContinuousClock.now - candidate.claimedAt
                guard elapsed < min(context.settings.lease - context.settings.callDeadline * 5 / 4, send.timeLeft)
                else {
                    step = plan.runOut()
                    continue
                }
                // A repeat under an idempotency key must be identical to the byte, or the provider rejects it.
                let message = handed?.provider == name ? handed?.message : message(candidate, elapsed: elapsed)
                handed = (name, message)
                let start = (instant: ContinuousClock.now, time: context.settings.now())
                switch await call(name, send, message) {
                case .pauses(let wait):
                    step = plan.passOver(for: wait)
                case .answered(let answer) where answer.untried == .tooLate:
                    step = plan.runOut()
                case .answered(let answer) where answer.untried == .busy || answer.untried == .tooManyFiles:
                    report(answer, of: name, send, since: start.instant)
                    step = plan.passOver(for: ProviderDesk.patience)
                case .answered(let answer):
                    context.settings.observe(.dispatchAnswered)
                    note(answer, by: name, of: candidate, since: start)
                    report(answer, of: name, send, since: start.instant)
                    let timeLeft = send.timeLeft(since: candidate.claimedAt)
                    step = plan.step(after: answer, encoding: message?.content.encoding, timeLeft: timeLeft)
                }
            }
        }
    }

    /// True when the claim's mark names another provider: if this worker died during the call, a repeat could choose
    /// `provider` again.
    private func needsMark(_ candidate: Dispatch.Ready, for provider: String) -> Bool {
        context.settings.repeatsUnknown && !candidate.send.isRepeat && candidate.provider != provider
    }

    private func note(
        _ answer: ProviderAnswer,
        by provider: String,
        of candidate: Dispatch.Ready,
        since start: (instant: ContinuousClock.Instant, time: Timestamp)
    ) {
        guard !candidate.send.isFictional else { return }
        context.statistics.noteCall(
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

    private func testNumber(of send: ClaimedSend) -> TestNumber? {
        guard send.isFictional else { return nil }
        return policies.current.tenants[send.tenant]?.testNumbers.first { .phone($0.number) == send.recipient }
    }

    /// Builds the message of a send; nil when its content cannot be built.
    private func message(_ candidate: Dispatch.Ready, elapsed: Duration) -> OutboundMessage? {
        let send = candidate.send
        return send.content(tenant: policies.current.tenants[send.tenant], elapsed: elapsed).map { content in
            OutboundMessage(
                sendID: send.id,
                content: content,
                validity: send.validity(after: elapsed),
                expiresAt: context.settings.now() + send.validity(after: elapsed),
                callDeadline: context.settings.callDeadline,
                leaveBy: candidate.claimedAt + send.timeLeft,
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
