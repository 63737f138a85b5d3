// SPDX-License-Identifier: Apache-2.0

import Verification

extension ReportPage {
    var pauseSection: String {
        let note =
            "A breaker passes a provider over that fails. A pause is over when the next message may ask it again."
        guard !history.pauses.pauses.isEmpty else {
            return Self.section("Breakers", "No provider was passed over.", [])
        }
        let axis = TimeAxis(
            start: min(history.timeline.origin, history.first ?? history.timeline.origin),
            end: max(history.timeline.end, history.last)
        )
        return Self.section("Breakers", note, [PauseChart(history: history.pauses, axis: axis).html])
    }

    var problemSection: String {
        let problems = history.problems.values.sorted {
            ($1.kind.severity, $1.count, $0.kind.event, $0.kind.detail)
                < ($0.kind.severity, $0.count, $1.kind.event, $1.kind.detail)
        }
        var parts: [String] = []
        if history.retries.total > 0 {
            let retries = history.retries.ranked.map { "\($0.name) \(Figure.whole($0.sum))" }.joined(separator: ", ")
            parts.append("<p>Failures that were retried: \(Markup.escape(retries)).</p>")
        }
        if !problems.isEmpty {
            parts.append(
                Markup.table(
                    caption: "Warnings and errors",
                    head: ["event", "severity", "lines", "first", "last", "of"],
                    rows: problems.map { problem in
                        [
                            problem.kind.event, "\(problem.kind.severity)", Figure.whole(problem.count),
                            Figure.time(problem.first), Figure.time(problem.last), problem.kind.detail,
                        ]
                    }
                )
            )
        }
        return Self.section(
            "Errors",
            parts.isEmpty
                ? "No warning, no error, no retry."
                : "Lines of warnings and errors that say the same, the gravest first.",
            parts
        )
    }

    var workerSection: String {
        let rows = history.workers.sorted { $0.key < $1.key }.map { name, worker in
            let cores = worker.coveredSeconds > 0 ? worker.cpuSeconds / worker.coveredSeconds : 0
            let longest = worker.gaps.map { $0.to - $0.from }.max()
            return [
                name, Figure.time(worker.first), Figure.time(worker.last), worker.uptime.map(Figure.span) ?? "–",
                worker.hasStopped ? "stopped" : "–", "\(worker.heartbeats)",
                longest.map { "\(worker.gaps.count), longest \(Figure.span($0))" } ?? "none",
                Figure.whole(worker.requests), worker.peakBytes.map(Figure.bytes) ?? "–", Figure.short(cores),
            ]
        }
        let head = [
            "worker", "first line", "last line", "uptime", "end", "heartbeats", "gaps", "requests", "peak memory",
            "CPU cores",
        ]
        guard !rows.isEmpty else { return Self.section("Workers", "No line names its worker.", []) }
        return Self.section(
            "Workers",
            "A row for each host and process number. In a container a worker that is started again keeps both and its row.",
            [Markup.table(caption: "Workers", head: head, rows: rows)]
        )
    }

    var lineSection: String {
        Self.section(
            "Lines",
            "What this page was made from: the readable lines by their event.",
            [
                Markup.folded(
                    Markup.table(
                        caption: "Lines by event",
                        head: ["event", "lines"],
                        rows: history.events.ranked.map { [$0.name, Figure.whole($0.sum)] }
                    )
                )
            ]
        )
    }
}
