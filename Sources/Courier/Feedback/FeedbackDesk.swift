// SPDX-License-Identifier: Apache-2.0

package import Formats
package import Logging
import Logs
import ServiceLifecycle
import Synchronization
package import Verification

/// Reports messages whose codes were approved to their providers: every few seconds, once at most, and without retries.
///
/// Nothing waits for it. It has connections of its own, takes no rate-limit token and counts in no provider's health. A
/// provider that does not take reports gets none for a while, and a full queue drops them.
package final class FeedbackDesk: Service {
    package enum Result: String, Sendable, CaseIterable {
        case confirmed
        case failed

        /// Not sent: the queue was full, or the provider had just failed.
        case dropped
    }

    /// Time between two batches.
    package static let interval = Duration.seconds(5)

    /// Maximum of reports that wait for one provider.
    static let capacity = 10_000

    /// Maximum of calls to one provider at a time, and of its connections.
    package static let concurrency = 16

    /// The pause after a failure of the provider, unless it asks for a longer one.
    static let pause = Duration.seconds(60)

    /// The names of the providers; those in force may have newer credentials.
    let names: [String]
    private let providers: InForce<[String: any FeedbackProvider]>
    private let deadline: Duration
    private let interval: Duration
    private let statistics: Statistics
    private let logger: Logger
    private let waiting = Mutex<[String: [ConfirmedMessage]]>([:])

    package init(
        _ providers: InForce<[String: any FeedbackProvider]>,
        deadline: Duration,
        every interval: Duration = FeedbackDesk.interval,
        statistics: Statistics,
        logger: Logger
    ) {
        names = providers.current.keys.sorted()
        self.providers = providers
        self.deadline = deadline
        self.interval = interval
        self.statistics = statistics
        self.logger = logger
    }

    func add(_ messages: [ConfirmedMessage]) {
        if messages.isEmpty { return }
        let dropped = waiting.withLock { waiting in
            messages.count { message in
                guard waiting[message.provider, default: []].count < Self.capacity else { return true }
                waiting[message.provider, default: []].append(message)
                return false
            }
        }
        statistics.noteFeedback(.dropped, count: dropped)
    }

    /// Removes and returns what waits for a provider.
    func take(_ name: String) -> [ConfirmedMessage] { waiting.withLock { $0.removeValue(forKey: name) ?? [] } }

    package func run() async {
        guard !names.isEmpty else { return await waitForShutdown() }
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for name in self.names { group.addTask { await self.serve(name) } }
            }
        }
    }

    /// Reports to one provider, so that a slow one delays no other.
    private func serve(_ name: String) async {
        var resumesAt = ContinuousClock.now
        while !Task.isCancelled {
            await Task.pause(until: .now + interval)
            let messages = take(name)
            guard !messages.isEmpty, !Task.isCancelled, let provider = providers.current[name] else {
                continue
            }
            guard .now >= resumesAt else {
                statistics.noteFeedback(.dropped, count: messages.count)
                continue
            }
            if let pause = await report(messages, to: provider) { resumesAt = .now + pause }
        }
    }

    /// Reports a batch; returns the pause that a failure of the provider calls for.
    private func report(_ messages: [ConfirmedMessage], to provider: any FeedbackProvider) async -> Duration? {
        await withTaskGroup(of: ProviderAnswer.self) { group in
            var rest = messages[...]
            func begin() {
                guard let message = rest.popFirst() else { return }
                group.addTask { [deadline] in await provider.confirm(message, within: deadline) }
            }
            for _ in 0..<Self.concurrency { begin() }
            var pause: Duration?
            for await answer in group {
                note(answer, of: provider.name)
                if answer.outcome != .accepted, !answer.isOfMessage {
                    pause = max(pause ?? Self.pause, answer.retryAfter ?? .zero)
                }
                if pause == nil { begin() }
            }
            statistics.noteFeedback(.dropped, count: rest.count)
            return pause
        }
    }

    private func note(_ answer: ProviderAnswer, of name: String) {
        // A stop cancels calls, which proves nothing.
        if Task.isCancelled { return }
        statistics.noteFeedback(answer.outcome == .accepted ? .confirmed : .failed, count: 1)
        if answer.outcome == .accepted { return }
        logger.log(
            .feedbackFailed,
            [
                .provider: .text(name), .outcome: .text(answer.outcome.rawValue),
                .errorCode: .text(answer.errorCode ?? "none"),
            ]
        )
    }
}
