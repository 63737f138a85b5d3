// SPDX-License-Identifier: Apache-2.0

import Verification

/// A fleet's history as one HTML page that needs nothing from outside: no script, no font, no picture.
package struct ReportPage {
    let history: FleetHistory
    let tally: LineTally

    /// What was read, as the command line names it.
    let sources: [String]

    /// Logs that were left out because they hold no entry.
    let foreign: [String]

    package init(_ history: FleetHistory, tally: LineTally, sources: [String], foreign: [String] = []) {
        self.history = history
        self.tally = tally
        self.sources = sources
        self.foreign = foreign
    }

    package var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="referrer" content="no-referrer">
        <title>code-courier report</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        \(header)
        <main>
        \(sections.joined(separator: "\n"))
        </main>
        <footer>Times are UTC. Counts come from the heartbeats (worker.stats): what a worker did after its last one is \
        not in them. Rates are those of the time that any worker told of. The middle percentiles are means of the \
        workers' intervals, weighted by how many durations each measured; p99 is the worst interval of any \
        worker.</footer>
        </body>
        </html>

        """
    }

    private var sections: [String] {
        guard history.heartbeats > 0 else { return [problemSection, workerSection, lineSection] }
        return [
            trafficSection, regionSection, providerSection, latencySection, backlogSection, refusalSection,
            unknownSection, pauseSection, problemSection, workerSection, lineSection,
        ]
    }

    static func section(_ title: String, _ note: String, _ parts: [String]) -> String {
        """
        <section><h2>\(Markup.escape(title))</h2>
        <p class="note">\(Markup.escape(note))</p>
        \(parts.joined(separator: "\n"))
        </section>
        """
    }
}

// MARK: - Header

extension ReportPage {
    private var header: String {
        """
        <header><h1>code-courier <em>report</em></h1>
        <p>\(Markup.escape(span))</p>
        <dl class="facts">
        \(facts.map { "<div><dt>\(Markup.escape($0.name))</dt><dd>\(Markup.escape($0.value))\($0.share)</dd></div>" }.joined(separator: "\n"))
        </dl>
        \(doubts.map { "<p class=\"doubt\">\(Markup.escape($0))</p>" }.joined(separator: "\n"))
        </header>
        """
    }

    private var span: String {
        guard let first = history.first else {
            return "No \(isOfOtherTimes ? "entry in the time asked for" : "line") in \(sources.joined(separator: ", "))"
        }
        return """
            \(Figure.time(first)) to \(Figure.time(history.last)) UTC, \(Figure.span(history.last - first)) · \
            \(Figure.count(history.workers.count, "worker")) · \(Figure.count(tally.lines, "line")) from \(names(sources))
            """
    }

    /// Whether entries were read and none of them is of the time that was asked for.
    private var isOfOtherTimes: Bool { history.entries == 0 && tally.lines > tally.broken }

    private func names(_ logs: [String]) -> String {
        let shown = logs.prefix(5).joined(separator: ", ")
        return logs.count > 5 ? "\(shown) and \(logs.count - 5) more" : shown
    }

    private var facts: [Fact] {
        let decisions = history.decisions
        let handedOver = decisions["sent"] + decisions["unknown"]
        let decided = history.requests - history.repeats
        let lag = history.timeline.buckets.compactMap(\.lag).max()
        let toProvider = history.latencies["request_to_provider"]
        return [
            Fact("requests", Figure.whole(history.requests)),
            Fact("of them repeats", history.repeats, of: history.requests),
            Fact("sent", Figure.whole(decisions["sent"])),
            Fact("rejected", decisions["rejected"], of: decided),
            Fact("failed", decisions["failed"], of: decided),
            Fact("outcome unknown", decisions["unknown"], of: handedOver),
            Fact("dead letters", Figure.whole(history.deadLetters)),
            Fact("highest lag", lag.map(Figure.whole) ?? "–"),
            Fact("to the provider, p50", toProvider.map { Figure.short($0.p50) + " ms" } ?? "–"),
        ]
    }

    /// What a reader has to know before believing the rest.
    private var doubts: [String] {
        var doubts: [String] = []
        if !foreign.isEmpty {
            doubts.append(
                """
                Left out: \(names(foreign)). No line is an entry in format json or otel, as in a compressed log and in one \
                in format text.
                """
            )
        }
        if tally.broken > 0 {
            doubts.append(
                """
                \(Figure.whole(Double(tally.broken))) of \(Figure.whole(Double(tally.lines))) lines could not be read: cut \
                off, or not of a worker in format json or otel.
                """
            )
        }
        if history.heartbeats == 0, !isOfOtherTimes {
            doubts.append(
                "No heartbeat (worker.stats) is among the lines: there is nothing to count. Is log.level above info?"
            )
        }
        if history.wentBack {
            doubts.append(
                """
                Logs follow each other here: unless they are sorted, which sort does in format json, their workers' lag is \
                not added up.
                """
            )
        }
        let gaps = history.workers.values.flatMap(\.gaps)
        if let longest = gaps.map({ $0.to - $0.from }).max() {
            doubts.append(
                """
                \(Figure.count(gaps.count, "gap")) without heartbeat, the longest \(Figure.span(longest)): lines are missing, or the \
                worker was down. Counts of these times may be missing.
                """
            )
        }
        return doubts
    }
}

/// One of the figures at the head of the page.
private struct Fact {
    let name: String
    let value: String

    /// What part of something it is, as markup.
    let share: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
        share = ""
    }

    init(_ name: String, _ part: Double, of whole: Double) {
        self.name = name
        value = Figure.whole(part)
        share = whole > 0 && part > 0 ? " <small>\(Figure.percent(part / whole))</small>" : ""
    }
}
