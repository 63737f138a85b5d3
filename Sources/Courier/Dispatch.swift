// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import Verification

/// The second stage: claimed sends become messages at a provider.
///
/// A claim is marked just before its first byte leaves, a batch in one statement. It holds no database connection while
/// a provider is called, and every call ends well before the claim's lease.
struct Dispatch: Service {
    /// Sends claimed together, and when by this process's own clock.
    struct Claims: Sendable {
        let sends: [ClaimedSend]
        let claimedAt: ContinuousClock.Instant
    }

    let claims: BatchQueue<Claims>
    let results: BatchQueue<SendResult>
    let ledger: any Ledger
    let providers: [String: any MessageProvider]
    let policies: PolicySource
    let settings: CourierSettings
    let inFlight: InFlight
    let retry: LedgerRetry
    let logger: Logger

    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for await batches in claims.batches(of: .max) {
                    for batch in batches {
                        group.addTask { await dispatch(batch) }
                    }
                }
            }
            results.finish()
        } onGracefulShutdown: {
            claims.finish()
        }
    }

    private func dispatch(_ claims: Claims) async {
        settings.observe(.dispatchClaimed)
        // A mark whose answer was lost is made again, by the same claim: nothing has left before it is known.
        let marked = await retry.until(claims.claimedAt + settings.lease / 2, .dispatch) {
            try await ledger.markDispatching(claims.sends)
        }
        guard let marked else {
            // The sweep finds the sends when the lease is over.
            logger.warning("claims could not be marked", metadata: ["event": "dispatch.mark_failed"])
            inFlight.remove(claims.sends.count)
            return
        }
        settings.observe(.dispatchMarked)
        await withDiscardingTaskGroup { group in
            for send in claims.sends where marked.contains(send.id) {
                group.addTask {
                    let result = await attempt(send, claimedAt: claims.claimedAt)
                    results.append([result])
                    giveReceipts(of: send, result)
                }
            }
        }
        await giveBack(claims.sends.filter { !marked.contains($0.id) })
    }

    /// Claims that may not leave any more are settled by the sweep.
    private func giveBack(_ claims: [ClaimedSend]) async {
        guard !claims.isEmpty else { return }
        do {
            try await ledger.release(claims)
        } catch {
            logger.warning(
                "claims could not be handed back",
                metadata: ["event": "dispatch.release_failed"],
                error: error
            )
        }
        inFlight.remove(claims.count)
    }

    /// Calls providers, one after the other, until the plan has come to an end.
    private func attempt(_ send: ClaimedSend, claimedAt: ContinuousClock.Instant) async -> SendResult {
        let providers = route(of: send)
        var plan = AttemptPlan(providers: providers.map(\.name), attempts: send.attempts)
        var step = plan.start()
        var last: SendResult.Attempt?
        while true {
            switch step {
            case .finish(let disposition):
                return SendResult(
                    send: send.reference,
                    disposition: settled(disposition, send, attempts: plan.attempts),
                    attempts: plan.attempts,
                    attempt: last
                )
            case .call(let name):
                let elapsed = ContinuousClock.now - claimedAt
                guard elapsed < settings.lease - settings.callDeadline * 5 / 4 else {
                    step = .finish(.retry(after: .zero))
                    continue
                }
                let message = message(send, elapsed: elapsed)
                let answer = await call(providers.first { $0.name == name }, message)
                settings.observe(.dispatchAnswered)
                report(answer, provider: name, send)
                last = SendResult.Attempt(provider: name, answer: answer, encoding: message?.content.encoding)
                step = plan.step(after: answer)
            }
        }
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

    /// The providers to ask, in order; for a test number the one that sends nothing.
    private func route(of send: ClaimedSend) -> [any MessageProvider] {
        guard let tenant = policies.current.tenants[send.tenant] else { return [] }
        guard send.isFictional else {
            let names = tenant.routes.providers(for: send.region ?? .unknown)
            return names.compactMap { providers[$0] }.filter { $0.channel == send.recipient.channel }
        }
        return [TestNumberProvider(fault: testNumber(of: send)?.fault)]
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

    private func call(_ provider: (any MessageProvider)?, _ message: OutboundMessage?) async -> ProviderAnswer {
        guard let provider else { return ProviderAnswer(.misconfigured, errorCode: "no_provider") }
        guard let message else { return ProviderAnswer(.misconfigured, errorCode: "no_message") }
        return await provider.send(message)
    }

    /// The message for a send, or nil where none is made for its channel.
    private func message(_ send: ClaimedSend, elapsed: Duration) -> OutboundMessage? {
        let validity = max(.seconds(1), send.validityLeft - elapsed)
        return content(send, validity).map {
            OutboundMessage(sendID: send.id, content: $0, validity: validity, callDeadline: settings.callDeadline)
        }
    }

    private func content(_ send: ClaimedSend, _ validity: Duration) -> MessageContent? {
        switch (send.recipient, send.credential) {
        case (.phone(let number), .code(let code)):
            .sms(TextMessage(recipient: number, text: send.rendering.text(code: code, validity: validity)))
        case (.device(let device), .push(let secret)):
            .push(
                PushMessage(
                    device: device,
                    receipt: send.reference.verificationID.description,
                    secret: secret.text
                )
            )
        case (.email, _), (.phone, _), (.device, _): nil
        }
    }

    private func report(_ answer: ProviderAnswer, provider: String, _ send: ClaimedSend) {
        let metadata: Logger.Metadata = [
            "event": "provider.answered",
            "provider": "\(provider)",
            "outcome": "\(answer.outcome.rawValue)",
            "error_code": "\(answer.errorCode ?? "")",
            "verification.id": "\(send.reference.verificationID)",
            "send.id": "\(send.id)",
            "region": "\(send.region?.code ?? "")",
        ]
        switch answer.outcome {
        case .accepted: logger.debug("provider answered", metadata: metadata)
        case .misconfigured: logger.error("provider answered", metadata: metadata)
        default: logger.info("provider answered", metadata: metadata)
        }
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
