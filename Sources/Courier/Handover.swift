// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import Verification

/// A marked send on its way: its providers are asked, one after the other, until its plan has come to an end.
struct Handover: Sendable {
    let context: StageContext
    let desk: ProviderDesk
    let policies: PolicySource

    enum Outcome {
        /// What became of the send, followed by the receipts that a test number's fault makes for it.
        case over([SendResult])

        /// The next provider has a turn for it, and is to be marked before it is called.
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
                    // It comes back while its message may still leave.
                    let left = send.timeLeft(since: candidate.claimedAt)
                    step = plan.passOver(for: min(desk.sendAway(from: name), left / 2))
                    continue
                }
                hasTurn = false
                if needsMark(candidate, for: name) {
                    return .goesOn(candidate.going(on: plan, to: step))
                }
                // The call ends before the claim does, and begins before the message is too late.
                let elapsed = ContinuousClock.now - candidate.claimedAt
                guard elapsed < min(context.settings.lease - context.settings.callDeadline * 5 / 4, send.timeLeft)
                else {
                    step = plan.runOut()
                    continue
                }
                // What is repeated under its idempotency key is the same to the byte, or the provider refuses it.
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

    /// Whether the claim is marked for another provider, and would be repeated if this worker died now.
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

    /// The message for a send, or nil where its parts make none.
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
    /// How the text travels; nil for what is no SMS.
    fileprivate var encoding: TextEncoding? {
        guard case .sms(let message) = self else { return nil }
        return TextEncoding(message.text)
    }
}

/// Answers for test numbers as a provider would, and sends nothing.
///
/// A test number's message goes the way of every other one up to this point, so its fault shows what the same fault of
/// a real provider would come to.
struct TestNumberProvider: MessageProvider {
    static let name = "test"

    var name: String { Self.name }
    let fault: TestNumber.Fault?

    /// How long the slow one takes.
    var slowness = Duration.seconds(5)

    func send(_ message: OutboundMessage) async -> ProviderAnswer {
        switch fault {
        case .optedOut: return ProviderAnswer(.optedOut, errorCode: "opted_out")
        case .invalid: return ProviderAnswer(.refused, errorCode: "invalid_number")
        case .throttled: return ProviderAnswer(.throttled, errorCode: "throttled", retryAfter: .seconds(1))
        case .providerDown: return ProviderAnswer(.notSent, errorCode: "connection_refused")
        case .slow:
            // Taking long is the fault itself.
            do { try await Task.sleep(for: min(slowness, message.callDeadline)) } catch {
                return ProviderAnswer(.unknown, errorCode: "cancelled")
            }
            return ProviderAnswer(.accepted, messageID: message.sendID.description)
        case .lostReceipt, .duplicateReceipt, nil:
            return ProviderAnswer(.accepted, messageID: message.sendID.description)
        }
    }
}
