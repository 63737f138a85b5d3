// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import ServiceLifecycle
import Synchronization
import Verification

/// The providers of a worker: which of them take messages now, and when it is whose turn.
///
/// Health is what this worker sees for itself; the limits of providers are shared by the fleet.
final class ProviderDesk: Service {
    /// Gets whether it has its turn.
    private typealias Waiter = CheckedContinuation<Bool, Never>

    let providers: [String: any MessageProvider]
    /// The names of providers that take the send's id as an idempotency key.
    let idempotent: Set<String>
    private let rates: any ProviderRates
    private let board: Mutex<HealthBoard>
    /// Nil once nobody asks the fleet for turns any more.
    private let turns: Mutex<ProviderTurns<Waiter>?>
    private let limited: Set<String>
    private let signal = Signal()
    private let workerID: String
    private let logger: Logger

    init(
        _ providers: [String: any MessageProvider],
        limits: [String: RateLimit],
        rates: any ProviderRates,
        callDeadline: Duration,
        workerID: String,
        logger: Logger
    ) {
        self.providers = providers
        self.rates = rates
        self.workerID = workerID
        self.logger = logger
        idempotent = Set(providers.filter(\.value.isIdempotent).keys)
        limited = Set(limits.keys)
        board = Mutex(HealthBoard(channels: providers.mapValues(\.channel), probeLimit: callDeadline * 3 / 2))
        turns = Mutex(ProviderTurns(rates: limits, at: .now))
    }
}

// MARK: - Health

extension ProviderDesk {
    /// The order in which one send asks the providers of a route, and how long none of them takes it.
    ///
    /// No pause when one takes it. Those that refused it are left out, and a repeat goes only to those that it may go to.
    func order(_ route: Route, for send: ClaimedSend) -> (providers: [String], pause: Duration?) {
        var generator = SystemRandomNumberGenerator()
        return board.withLock { board in
            let now = ContinuousClock.now
            var order = board.order(route, used: Set(send.usedProviders), at: now, using: &generator)
                .filter { !send.refusers.contains($0) }
            // The retry was timed for this one.
            if let first = send.retryProvider, order.contains(first), board.pause(of: first, at: now) == nil {
                order = [first] + order.filter { $0 != first }
            }
            let providers = send.repetition?.order(order, idempotent: idempotent) ?? order
            return (providers, board.pause(of: providers, at: now))
        }
    }

    /// What this worker knows of each provider now.
    var states: [String: ProviderHealth.State] {
        board.withLock { board in
            Dictionary(uniqueKeysWithValues: providers.keys.map { ($0, board.state(of: $0, at: .now)) })
        }
    }

    /// Whether some provider takes nothing for now, or less than it was offered.
    var hasPause: Bool {
        let now = ContinuousClock.now
        return board.withLock { $0.hasPause(at: now) } || turns.withLock { $0?.isOverfull(at: now) ?? false }
    }

    /// How long a provider takes no message; nil when it does.
    func pause(of name: String) -> Duration? {
        board.withLock { $0.pause(of: name, at: .now) }
    }

    /// Calls a provider, unless it takes nothing for now.
    func call(_ name: String, _ message: OutboundMessage) async -> Outcome {
        guard let provider = providers[name] else { return .unknownProvider }
        guard let entry = board.withLock({ $0.begin(name, at: .now) }) else { return .unknownProvider }
        switch entry {
        case .wait(let wait):
            return .pauses(wait)
        case .go(let call):
            let answer = await provider.send(message)
            let change = board.withLock { $0.end(call, of: name, answer, at: .now) }
            if let change { report(name, change) }
            return .answered(answer)
        }
    }

    enum Outcome {
        case answered(ProviderAnswer)

        /// It was not called: it takes nothing for this time.
        case pauses(Duration)

        static let unknownProvider = answered(ProviderAnswer(.misconfigured, errorCode: "no_provider"))
    }

    /// Takes the time that a message took to arrive.
    func noteArrival(_ provider: String, after time: Duration) {
        board.withLock { $0.noteArrival(provider, after: time, at: .now) }
    }

    /// One line when a provider is passed over from now on, and one when it is not any more.
    private func report(_ name: String, _ change: HealthBoard.Change) {
        let event: LoggedEvent =
            switch change {
            case .paused: .providerPaused
            case .resumed: .providerResumed
            }
        logger.log(event, [.workerID: .text(workerID), .provider: .text(name)])
    }
}

// MARK: - Turns

extension ProviderDesk {
    /// How long a send waits for its provider's turn before it goes to the next one or is handed back.
    static let patience = ProviderTurns<Waiter>.patience

    /// How long a send that got no turn stays away at most.
    static let longestAbsence = ProviderTurns<Waiter>.longestAbsence

    func isLimited(_ name: String) -> Bool { limited.contains(name) }

    /// Waits for a turn; false when there is none within `patience`.
    func turn(_ name: String) async -> Bool {
        guard isLimited(name) else { return true }
        let now = ContinuousClock.now
        return await withCheckedContinuation { (waiter: Waiter) in
            switch turns.withLock({ $0?.enter(name, waiter, until: now + Self.patience, at: now) }) {
            case .go: waiter.resume(returning: true)
            case .waits: signal.send()
            case .isFull, nil: waiter.resume(returning: false)
            }
        }
    }

    /// How long a send that got no turn, and comes back for one, is to stay away.
    func sendAway(from name: String) -> Duration {
        turns.withLock { $0?.sendAway(from: name, at: .now) } ?? Self.patience
    }

    /// Asks the fleet for turns while somebody waits for one.
    func run() async throws {
        guard !limited.isEmpty else { return await waitForShutdown() }
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                while !Task.isCancelled {
                    let wanted = self.turns.withLock { $0?.wanted(at: .now) ?? [:] }
                    // However long the answer takes, nobody waits for longer than their patience.
                    if !wanted.isEmpty { group.addTask { await self.ask(for: wanted) } }
                    let expired = self.turns.withLock { $0?.expired(at: .now) ?? [] }
                    for waiter in expired { waiter.resume(returning: false) }
                    await self.waitForWork()
                }
            }
        }
        // Nobody asks any more: who still waits is passed over, and another worker takes the message.
        let left = turns.withLock { turns in
            defer { turns = nil }
            return turns?.expired(at: .now + .seconds(3600)) ?? []
        }
        for waiter in left { waiter.resume(returning: false) }
    }

    private func ask(for wanted: [String: TurnRequest]) async {
        do {
            let grants = try await rates.takeTurns(wanted)
            for waiter in turns.withLock({ $0?.granted(grants, at: .now) ?? [] }) { waiter.resume(returning: true) }
        } catch {
            turns.withLock { $0?.failed(wanted.keys, at: .now) }
            logger.log(.providerTurnsFailed, [.error: LogValue(error)])
        }
    }

    /// Until something may have to be done: somebody has come to wait, or a time is over.
    private func waitForWork() async {
        guard let next = turns.withLock({ $0?.nextEvent }) else {
            _ = await signal.wait()
            return
        }
        // What is due by time alone gives no signal; and who comes for another provider meanwhile is asked for soon.
        let soon = ContinuousClock.now + ProviderTurns<Waiter>.interval
        try? await Task.sleep(until: max(min(next, soon), .now + .milliseconds(5)), clock: .continuous)
    }
}
