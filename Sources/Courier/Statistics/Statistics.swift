// SPDX-License-Identifier: Apache-2.0

import Formats
import Synchronization
package import Verification

/// The counts and durations since the last report.
///
/// Stages record whole batches, each under one lock; calls to providers are recorded one by one.
package final class Statistics: Sendable {
    /// External systems whose failures are counted, retried attempts included.
    package enum Dependency: String, Sendable, CaseIterable {
        case postgres
        case kafka
    }

    package struct Call: Sendable {
        package let provider: String
        package let outcome: ProviderOutcome

        /// From the claim to the call.
        package let waited: Duration
        package let took: Duration

        /// From the append of the request's record to the call; nil when unknown.
        package let age: Duration?
    }

    package struct Interval: Sendable {
        package var requests = 0

        /// Events that repeat an earlier decision; excluded from all other counts.
        package var repeats = 0
        package var decisions: [DeliveryStatus: Int] = [:]

        /// Sends that failed because no provider accepted them.
        package var unavailable = 0

        /// Decisions for phone numbers, by region and status.
        package var regions: [Region: [DeliveryStatus: Int]] = [:]

        /// Answers by provider and outcome.
        package var providers: [String: [ProviderOutcome: Int]] = [:]

        /// Refusals by reason.
        package var refusals: [String: Int] = [:]
        package var deadLetters = 0

        /// Unreadable hints, by field.
        package var unreadHints: [String: Int] = [:]
        package var failures: [Dependency: Int] = [:]

        /// Requests that blocks of the toll-fraud brake refused, and those that they would have refused.
        package var brakeRefused = 0
        package var brakeRecorded = 0

        /// Reports to providers of messages whose codes were approved.
        package var feedback: [FeedbackDesk.Result: Int] = [:]

        /// The money of messages that providers took, by currency.
        package var spend: [String: Spend] = [:]
        package var latencies: [Latency: LatencyPercentiles] = [:]
    }

    /// Money in one currency.
    package struct Spend: Sendable, Equatable {
        package var amount = Money.zero
        package var regions: [Region: Money] = [:]

        /// The money spent from each budget on messages that this worker decided; one message may have several budgets.
        package var budgets: [BudgetKey: Money] = [:]
    }

    private struct State {
        var interval = Interval()
        var histograms = Latency.allCases.map { _ in LatencyHistogram() }

        mutating func note(_ latency: Latency, _ duration: Duration, count: Int = 1) {
            histograms[latency.index].note(duration, count: count)
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns everything recorded since the last call, and resets it.
    package func take() -> Interval {
        state.withLock { state in
            var interval = state.interval
            state.interval = Interval()
            for latency in Latency.allCases {
                interval.latencies[latency] = state.histograms[latency.index].percentiles
                state.histograms[latency.index].reset()
            }
            return interval
        }
    }
}

// MARK: - Recording

extension Statistics {
    /// Records decided requests, whose decisions are durable.
    func noteDecided(_ records: [InboundRecord], since start: ContinuousClock.Instant, at now: Timestamp) {
        let took = ContinuousClock.now - start
        state.withLock { state in
            state.interval.requests += records.count
            state.note(.intake, took, count: records.count)
            for record in records {
                if let appendedAt = record.timestamp { state.note(.queue, now - appendedAt) }
            }
        }
    }

    /// Records hints that were left out of requests.
    func noteUnread(_ fields: some Sequence<String>) {
        var counts: [String: Int] = [:]
        for field in fields { counts[field, default: 0] += 1 }
        if counts.isEmpty { return }
        state.withLock { $0.interval.unreadHints.merge(counts, uniquingKeysWith: +) }
    }

    func noteBrake(refused: Int, recorded: Int) {
        if refused == 0, recorded == 0 { return }
        state.withLock { state in
            state.interval.brakeRefused += refused
            state.interval.brakeRecorded += recorded
        }
    }

    func noteFeedback(_ result: FeedbackDesk.Result, count: Int) {
        if count == 0 { return }
        state.withLock { $0.interval.feedback[result, default: 0] += count }
    }

    /// Records the money that a message cost its budgets.
    func noteSpend(_ cost: Cost, of budgets: some Sequence<BudgetKey>) {
        state.withLock { state in
            for key in budgets {
                state.interval.spend[cost.currency, default: Spend()].budgets[key, default: .zero] += cost.amount
            }
        }
    }

    func noteCall(_ call: Call) {
        state.withLock { state in
            state.interval.providers[call.provider, default: [:]][call.outcome, default: 0] += 1
            state.note(.dispatch, call.waited)
            state.note(.provider, call.took)
            if let age = call.age { state.note(.requestToProvider, age) }
        }
    }

    func noteRecorded(_ count: Int, since start: ContinuousClock.Instant) {
        let took = ContinuousClock.now - start
        state.withLock { $0.note(.record, took, count: count) }
    }

    func notePublished(_ records: [OutboxRecord], since start: ContinuousClock.Instant, at now: Timestamp) {
        let took = ContinuousClock.now - start
        state.withLock { state in
            state.note(.publish, took, count: records.count)
            for record in records {
                if record.isDeadLetter { state.interval.deadLetters += 1 }
                guard let summary = record.summary ?? EventSummary(reading: record) else { continue }
                state.interval.count(summary)
                if let appendedAt = summary.appendedAt { state.note(.requestToEvent, now - appendedAt) }
            }
        }
    }

    func noteFailure(of dependency: Dependency, count: Int = 1) {
        state.withLock { $0.interval.failures[dependency, default: 0] += count }
    }
}

extension Statistics.Interval {
    fileprivate mutating func count(_ summary: EventSummary) {
        if summary.isRepeat {
            repeats += 1
            return
        }
        decisions[summary.status, default: 0] += 1
        if let region = summary.region { regions[region, default: [:]][summary.status, default: 0] += 1 }
        if let cost = summary.cost {
            spend[cost.currency, default: Statistics.Spend()].amount += cost.amount
            if let region = summary.region {
                spend[cost.currency, default: Statistics.Spend()].regions[region, default: .zero] += cost.amount
            }
        }
        if summary.status == .failed, summary.reason == SendDisposition.FailureReason.providerUnavailable.rawValue {
            unavailable += 1
        }
        if summary.status == .rejected, let reason = summary.reason { refusals[reason, default: 0] += 1 }
    }
}

extension Latency {
    fileprivate var index: Int {
        switch self {
        case .intake: 0
        case .queue: 1
        case .dispatch: 2
        case .provider: 3
        case .record: 4
        case .publish: 5
        case .requestToProvider: 6
        case .requestToEvent: 7
        }
    }
}

/// The sends in flight and the providers' health at one moment.
package struct Load: Sendable {
    package let inFlight: Int
    package let maxInFlight: Int
    package let providers: [String: ProviderHealth.State]

    /// The number of routes on which no provider accepts messages.
    package var deadRoutes = 0

    /// The scopes that the toll-fraud brake has closed, or opened for probes.
    package var blockedScopes = 0
    package var halfOpenScopes = 0

    /// The age of the youngest verification that the brake has judged; nil if unknown.
    package var readerLag: Duration?
}

/// The records of the requests' topic that this worker has not read yet.
package struct Lag: Sendable {
    /// Unread records by partition, for the worker's own partitions.
    package var records: [Int32: Int64]

    /// Age of the oldest unread record.
    package var oldest: Duration

    package init(records: [Int32: Int64] = [:], oldest: Duration = .zero) {
        (self.records, self.oldest) = (records, oldest)
    }
}
