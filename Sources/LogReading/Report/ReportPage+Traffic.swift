// SPDX-License-Identifier: Apache-2.0

import Verification

extension ReportPage {
    private var buckets: [TimeBucket] { history.timeline.buckets }

    /// A value of each piece of time, with the seconds of it that any worker told of; nil where there are none.
    private func values(_ value: (TimeBucket, _ seconds: Double) -> Double?) -> [Double?] {
        buckets.enumerated().map { index, bucket in
            let seconds = history.timeline.seconds(of: index)
            return seconds > 0 ? value(bucket, seconds) : nil
        }
    }

    private func chart(_ title: String, _ unit: String, _ series: [TimeChart.Series], isStacked: Bool = false) -> String
    {
        TimeChart(title: title, unit: unit, series: series, timeline: history.timeline, isStacked: isStacked).html
    }

    /// A section of one chart, or the words that there is nothing to show.
    private static func section(_ title: String, _ text: String, _ bars: BarChart, orElse nothing: String) -> String {
        bars.rows.isEmpty ? section(title, nothing, []) : section(title, text, [bars.html])
    }

    var trafficSection: String {
        let statuses = Palette.ordered(history.decisions.sums.keys)
        let series = statuses.enumerated().map { place, status in
            TimeChart.Series(
                name: status,
                style: Palette.style(status, at: place),
                values: values { bucket, seconds in (bucket.decisions[status] ?? 0) / seconds }
            )
        }
        let requests = TimeChart.Series(name: "requests", style: "c-sent", values: values { $0.requests / $1 })
        return Self.section(
            "Throughput",
            "What was read from the requests topic, and the events that were published, by status.",
            ["<div class=\"pair\">", chart("Requests", "a second", [requests])]
                + (series.isEmpty ? [] : [chart("Events", "a second", series, isStacked: true)]) + ["</div>"]
        )
    }

    var regionSection: String {
        Self.section(
            "Regions",
            "Outcomes by the region of the recipient; XX is a region that the number does not tell.",
            BarChart(title: "Outcomes by region", unit: "events", rows: history.regions.ranked),
            orElse: "No region was counted."
        )
    }

    var providerSection: String {
        Self.section(
            "Providers",
            "What providers answered. A message that one refuses may be counted at the next one again.",
            BarChart(title: "Answers by provider", unit: "calls", rows: history.providers.ranked),
            orElse: "No provider was asked."
        )
    }

    private static let meanings = [
        "request_to_provider": "from the record's time to the provider's call",
        "request_to_event": "from the record's time to the acknowledged event",
        "queue": "from the record's time to its decision",
        "dispatch": "from the claim to the provider's call",
        "provider": "the provider's call",
    ]

    var latencySection: String {
        let stages = LatencySummary.ordered(history.latencies.keys)
        guard !stages.isEmpty else { return Self.section("Latency", "No stage was measured.", []) }
        let charts = stages.map { stage in
            let percentiles: [(String, (LatencySummary) -> Double)] = [("p50", \.p50), ("p90", \.p90), ("p99", \.p99)]
            let series = percentiles.map { name, value in
                TimeChart.Series(
                    name: name,
                    style: Palette.style(name),
                    values: values { bucket, _ in bucket.latencies[stage].map(value) }
                )
            }
            return chart(stage, Self.meanings[stage].map { "ms, \($0)" } ?? "ms", series)
        }
        let rows = stages.compactMap { stage in
            history.latencies[stage].map { summary in
                [stage] + [summary.p50, summary.p90, summary.p99, summary.max].map(Figure.short)
            }
        }
        let table = Markup.table(
            caption: "Latency in ms, whole time",
            head: ["stage", "p50", "p90", "p99", "max"],
            rows: rows
        )
        return Self.section(
            "Latency",
            "Milliseconds by stage. p50 and p90 are means over the workers, p99 is the worst of them.",
            [table, "<div class=\"pair\">"] + charts + ["</div>"]
        )
    }

    var backlogSection: String {
        let series: [(title: String, unit: String, values: [Double?])] = [
            ("Lag", "records behind, all partitions", values { bucket, _ in bucket.lag }),
            ("Due sends", "waiting in PostgreSQL", values { bucket, _ in bucket.dueSends }),
            ("Outbox", "events not yet published", values { bucket, _ in bucket.outbox }),
        ]
        let charts = series.filter { $0.values.contains { $0 != nil } }.map { line in
            chart(line.title, line.unit, [.init(name: line.title, style: "c-sent", values: line.values)])
        }
        return Self.section(
            "Backlog",
            "The most of each piece of time. Records wait in Kafka, sends in PostgreSQL once their request was decided.",
            ["<div class=\"pair\">"] + charts + ["</div>"]
        )
    }

    var refusalSection: String {
        let rows = history.rules.ranked.map { rule in
            var tally = Tally()
            tally.add("rejected", rule.sum)
            return (name: rule.name, tally: tally)
        }
        return Self.section(
            "Refusals",
            "Requests that were refused, by the reason that their events give.",
            BarChart(title: "Refusals by reason", unit: "requests", rows: rows),
            orElse: "No request was refused."
        )
    }

    var unknownSection: String {
        let rate = values { bucket, _ in
            let unknown = bucket.decisions["unknown"] ?? 0
            let handedOver = unknown + (bucket.decisions["sent"] ?? 0)
            return handedOver > 0 ? 100 * unknown / handedOver : nil
        }
        return Self.section(
            "Unknown outcomes",
            "Messages of which nobody can know whether the provider took them, of those that were handed over.",
            [chart("Unknown", "%", [.init(name: "unknown", style: "c-unknown", values: rate)])]
        )
    }
}
