// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import ServiceLifecycle
import Synchronization
import Verification

/// The providers of a worker: their health and their rate-limit tokens.
///
/// Health is this worker's own observation; the fleet shares the providers' rate limits.
final class ProviderDesk: Service {
    /// Resumed with true when it gets a rate-limit token, else with false.
    private typealias Waiter = CheckedContinuation<Bool, Never>

    let providers: [String: any MessageProvider]
    /// The names of providers that accept the send's id as an idempotency key.
    let idempotent: Set<String>
    private let rates: any ProviderRates
    private let board: Mutex<HealthBoard>
    /// The sends that wait for rate-limit tokens; nil once no more tokens are requested.
    private let tokens: Mutex<ProviderTokens<Waiter>?>
    private let limited: Set<String>
    private let signal = Signal()
    private let policies: PolicySource
    private let logger: Logger

    init(
        _ providers: [String: any MessageProvider],
        limits: [String: RateLimit],
        rates: any ProviderRates,
        callDeadline: Duration,
        policies: PolicySource,
        logger: Logger
    ) {
        self.providers = providers
        self.rates = rates
        self.policies = policies
        self.logger = logger
        idempotent = Set(providers.filter(\.value.isIdempotent).keys)
        limited = Set(limits.keys)
        board = Mutex(HealthBoard(channels: providers.mapValues(\.channel), probeLimit: callDeadline * 3 / 2))
        tokens = Mutex(ProviderTokens(rates: limits, at: .now))
    }
}

// MARK: - Health

extension ProviderDesk {
    /// The providers of a route in the order of calls for one send, and the pause until one accepts it.
    ///
    /// The pause is nil when a provider accepts it now. Excludes providers that refused this send; a repeat is limited
    /// to the providers that its repetition allows.
    func order(_ route: Route, for send: ClaimedSend) -> (providers: [String], pause: Duration?) {
        var generator = SystemRandomNumberGenerator()
        return board.withLock { board in
            let now = ContinuousClock.now
            var order = board.order(route, used: Set(send.usedProviders), at: now, using: &generator)
                .filter { !send.refusers.contains($0) }
            // The retry was scheduled for this provider, so it is the first.
            if let first = send.retryProvider, order.contains(first), board.pause(of: first, at: now) == nil {
                order = [first] + order.filter { $0 != first }
            }
            let providers = send.repetition?.order(order, idempotent: idempotent) ?? order
            return (providers, board.pause(of: providers, at: now))
        }
    }

    /// The health of each provider, as this worker observed it.
    var states: [String: ProviderHealth.State] {
        board.withLock { board in
            Dictionary(uniqueKeysWithValues: providers.keys.map { ($0, board.state(of: $0, at: .now)) })
        }
    }

    /// The routes on which no provider accepts messages.
    var deadRoutes: DeadRoutes {
        DeadRoutes(of: policies.current, without: board.withLock(\.paused))
    }

    /// True when some provider is paused, or has more waiting sends than tokens.
    var hasPause: Bool {
        let now = ContinuousClock.now
        return board.withLock { $0.hasPause(at: now) } || tokens.withLock { $0?.isOverfull(at: now) ?? false }
    }

    /// The time until a provider accepts messages again; nil when it does now.
    func pause(of name: String) -> Duration? {
        board.withLock { $0.pause(of: name, at: .now) }
    }

    /// Calls a provider unless it is paused.
    func call(_ name: String, _ message: OutboundMessage) async -> AttemptPlan.Attempt {
        guard let provider = providers[name], let entry = board.withLock({ $0.begin(name, at: .now) }) else {
            return .answered(ProviderAnswer(.misconfigured, errorCode: "no_provider"))
        }
        switch entry {
        case .wait(let wait):
            return .skipped(for: wait)
        case .go(let call):
            let answer = await provider.send(message)
            let (change, paused) = board.withLock { ($0.end(call, of: name, answer, at: .now), $0.paused) }
            if let change { report(name, change, paused) }
            return .answered(answer)
        }
    }

    /// Records the delivery time of a message.
    func noteArrival(_ provider: String, after time: Duration) {
        board.withLock { $0.noteArrival(provider, after: time, at: .now) }
    }

    /// Logs a change, after which `paused` are the error codes of the providers that accept no messages.
    private func report(_ name: String, _ change: HealthBoard.Change, _ paused: [String: String]) {
        var fields: [LogField: LogValue] = [.provider: .text(name)]
        switch change {
        case .resumed:
            logger.log(.providerResumed, fields)
        case .paused(let pause):
            let alternatives = policies.current.alternatives(to: name, without: paused)
            fields[.errorCode] = paused[name].map(LogValue.text)
            fields[.pause] = .integer(pause.microseconds / 1000)
            fields[.alternatives] = alternatives.map { LogValue($0) }
            logger.log(.providerPaused, fields)
            if alternatives == 0 { logger.log(.routeDead, fields) }
        }
    }
}

// MARK: - Rate-limit tokens

extension ProviderDesk {
    /// Maximum wait for a rate-limit token before the send moves to the next provider or is released.
    static let maxWait = ProviderTokens<Waiter>.maxWait

    /// Maximum delay of a send that got no token.
    static let longestBackoff = ProviderTokens<Waiter>.longestBackoff

    func isLimited(_ name: String) -> Bool { limited.contains(name) }

    /// Waits for a rate-limit token; false when none is available within `maxWait`.
    func waitForToken(_ name: String) async -> Bool {
        guard isLimited(name) else { return true }
        let now = ContinuousClock.now
        return await withCheckedContinuation { (waiter: Waiter) in
            switch tokens.withLock({ $0?.enter(name, waiter, until: now + Self.maxWait, at: now) }) {
            case .go: waiter.resume(returning: true)
            case .waits: signal.send()
            case .isFull, nil: waiter.resume(returning: false)
            }
        }
    }

    /// The delay before a send that got no token is retried.
    func retryAfter(from name: String) -> Duration {
        tokens.withLock { $0?.retryAfter(from: name, at: .now) } ?? Self.maxWait
    }

    /// Requests rate-limit tokens from the fleet's shared limits while sends wait for them.
    func run() async throws {
        guard !limited.isEmpty else { return await waitForShutdown() }
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                while !Task.isCancelled {
                    let wanted = self.tokens.withLock { $0?.wanted(at: .now) ?? [:] }
                    // In a task of its own: a slow answer must not extend the wait of any send beyond `maxWait`.
                    if !wanted.isEmpty { group.addTask { await self.request(wanted) } }
                    let expired = self.tokens.withLock { $0?.expired(at: .now) ?? [] }
                    for waiter in expired { waiter.resume(returning: false) }
                    await self.waitForWork()
                }
            }
        }
        // No more tokens are requested: release the remaining waiters, so that another worker takes their sends.
        let left = tokens.withLock { tokens in
            defer { tokens = nil }
            return tokens?.expired(at: .now + .seconds(3600)) ?? []
        }
        for waiter in left { waiter.resume(returning: false) }
    }

    private func request(_ wanted: [String: TokenRequest]) async {
        do {
            let grants = try await rates.takeTokens(wanted)
            for waiter in tokens.withLock({ $0?.granted(grants, at: .now) ?? [] }) { waiter.resume(returning: true) }
        } catch {
            tokens.withLock { $0?.failed(wanted.keys, at: .now) }
            logger.log(.providerTurnsFailed, [.error: LogValue(error)])
        }
    }

    /// Waits until a send begins to wait for a token, or the next timeout is due.
    private func waitForWork() async {
        guard let next = tokens.withLock({ $0?.nextEvent }) else {
            _ = await signal.wait()
            return
        }
        // Timeouts send no signal, so sleep for one interval at most; waiters that arrive meanwhile are served then.
        let soon = ContinuousClock.now + ProviderTokens<Waiter>.interval
        try? await Task.sleep(until: max(min(next, soon), .now + .milliseconds(5)), clock: .continuous)
    }
}
