// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import Logs
import Verification

/// The fields of a `worker.stats` line.
///
/// Counts cover the interval, durations are in milliseconds. The number of names is bounded: only the busiest regions
/// and the partitions with the largest lag are listed. A gauge whose value is unknown is left out, since a placeholder
/// would distort the minimum or maximum over the fleet.
struct StatisticsLine {
    let interval: Duration
    let uptime: Duration
    let counts: Statistics.Interval
    let load: Load

    /// Nil when the database did not answer.
    let backlog: Backlog?
    let lag: Lag
    var faults: [TopicFaults.Fault] = []
    let processorTime: Duration

    static let maximumRegions = 30
    static let maximumPartitions = 128
    static let maximumBudgets = 30

    /// The name that sums up all regions or budgets that are not listed.
    static let others = "other"

    var fields: [LogField: LogValue] {
        var fields: [LogField: LogValue] = [
            .interval: milliseconds(interval),
            .uptime: milliseconds(uptime),
            .requests: LogValue(counts.requests),
            .repeats: LogValue(counts.repeats),
            .decisions: Self.statuses(counts.decisions, withZeros: true),
            .unavailable: LogValue(counts.unavailable),
            .regions: regions,
            .providers: providers,
            .deadRoutes: LogValue(load.deadRoutes),
            .rules: Self.named(counts.refusals),
            .brake: brake,
            .spend: spend,
            .feedback: .object(
                FeedbackDesk.Result.allCases.map { LogMember($0.rawValue, LogValue(counts.feedback[$0] ?? 0)) }
            ),
            .unreadHints: Self.named(counts.unreadHints),
            .deadLetters: LogValue(counts.deadLetters),
            .inFlight: LogValue(load.inFlight),
            .maxInFlight: LogValue(load.maxInFlight),
            .lag: partitions,
            .topicFaults: topicFaults,
            .latency: latencies,
            .errors: .object(
                Statistics.Dependency.allCases.map {
                    LogMember($0.rawValue, LogValue(counts.failures[$0] ?? 0))
                }
            ),
            .residentBytes: LogValue(ProcessFigures.residentBytes),
            .processorTime: milliseconds(processorTime),
        ]
        if !lag.records.isEmpty { fields[.oldestUnread] = milliseconds(lag.oldest) }
        if let backlog {
            fields[.outbox] = LogValue(backlog.outbox)
            fields[.dueSends] = LogValue(backlog.dueSends)
            fields[.oldestSnapshot] = milliseconds(backlog.snapshotAge)
        }
        return fields
    }

    private static func named(_ counts: [String: Int]) -> LogValue {
        .object(counts.sorted { $0.key < $1.key }.map { LogMember($0.key, LogValue($0.value)) })
    }

    private func milliseconds(_ duration: Duration) -> LogValue {
        .integer(duration.microseconds / 1000)
    }

    private static func statuses(_ counts: [DeliveryStatus: Int], withZeros: Bool = false) -> LogValue {
        .object(
            DeliveryStatus.allCases.compactMap { status in
                guard let count = counts[status] ?? (withZeros ? 0 : nil) else { return nil }
                return LogMember(status.rawValue, LogValue(count))
            }
        )
    }

    private var regions: LogValue {
        let busiest = counts.regions
            .map { (code: $0.key.code, counts: $0.value, total: $0.value.values.reduce(0, +)) }
            .sorted { ($1.total, $0.code) < ($0.total, $1.code) }
        var members = busiest.prefix(Self.maximumRegions).map { LogMember($0.code, Self.statuses($0.counts)) }
        let rest = busiest.dropFirst(Self.maximumRegions)
        if !rest.isEmpty {
            let sum = rest.reduce(into: [:]) { $0.merge($1.counts, uniquingKeysWith: +) }
            members.append(LogMember(Self.others, Self.statuses(sum)))
        }
        return .object(members)
    }

    private var brake: LogValue {
        .object(
            [
                LogMember("blocked", LogValue(load.blockedScopes)),
                LogMember("half_open", LogValue(load.halfOpenScopes)),
                LogMember("refused", LogValue(counts.brakeRefused)),
                LogMember("recorded", LogValue(counts.brakeRecorded)),
            ] + [load.readerLag.map { LogMember("reader_lag_ms", milliseconds($0)) }].compactMap(\.self)
        )
    }

    private var spend: LogValue {
        .object(
            counts.spend.sorted { $0.key < $1.key }.map { currency, spend in
                let regions = spend.regions.map { (name: $0.key.code, money: $0.value) }
                let budgets = spend.budgets.map { (name: "\($0.key.tenant)/\($0.key.name)", money: $0.value) }
                return LogMember(
                    currency,
                    .object([
                        LogMember("amount", LogValue(spend.amount)),
                        LogMember("regions", Self.greatest(Self.maximumRegions, of: regions)),
                        LogMember("budgets", Self.greatest(Self.maximumBudgets, of: budgets)),
                    ])
                )
            }
        )
    }

    /// The greatest amounts by name, and the sum of the rest.
    private static func greatest(_ count: Int, of amounts: [(name: String, money: Money)]) -> LogValue {
        let ranked = amounts.sorted { ($1.money, $0.name) < ($0.money, $1.name) }
        var members = ranked.prefix(count).map { LogMember($0.name, LogValue($0.money)) }
        let rest = ranked.dropFirst(count)
        if !rest.isEmpty {
            members.append(LogMember(others, LogValue(rest.reduce(Money.zero) { $0 + $1.money })))
        }
        return .object(members)
    }

    private var providers: LogValue {
        .object(
            load.providers.sorted { $0.key < $1.key }.map { name, state in
                let answers = counts.providers[name] ?? [:]
                var members = ProviderOutcome.allCases.compactMap { outcome -> LogMember? in
                    answers[outcome].map { LogMember(outcome.rawValue, LogValue($0)) }
                }
                members.append(LogMember("breaker", .text(state.availability.word)))
                // Until a probe succeeds, a provider keeps no share of its weight.
                members.append(LogMember("score", LogValue(state.availability == .ready ? state.points : 0)))
                return LogMember(name, .object(members))
            }
        )
    }

    private var partitions: LogValue {
        let furthest = lag.records.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.maximumPartitions)
        return .object(furthest.sorted { $0.key < $1.key }.map { LogMember(String($0.key), .integer($0.value)) })
    }

    private var topicFaults: LogValue {
        .object(
            Dictionary(grouping: faults, by: \.use).sorted { $0.key.rawValue < $1.key.rawValue }.map { use, faults in
                LogMember(use.rawValue, .object(faults.map { LogMember($0.topic, .text($0.reason.rawValue)) }))
            }
        )
    }

    private var latencies: LogValue {
        .object(
            Latency.allCases.compactMap { latency in
                guard let percentiles = counts.latencies[latency] else { return nil }
                return LogMember(
                    latency.rawValue,
                    .object([
                        LogMember("count", LogValue(percentiles.count)),
                        LogMember("p50", .number(percentiles.median)),
                        LogMember("p90", .number(percentiles.ninetieth)),
                        LogMember("p99", .number(percentiles.ninetyNinth)),
                        LogMember("max", .number(percentiles.highest)),
                    ])
                )
            }
        )
    }
}

extension ProviderHealth.Availability {
    /// The state's usual name for a circuit breaker.
    fileprivate var word: String {
        switch self {
        case .ready: "closed"
        case .probe: "half_open"
        case .paused: "open"
        }
    }
}
