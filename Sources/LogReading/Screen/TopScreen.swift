// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A fleet's present state as lines for a terminal.
package struct TopScreen {
    let fleet: FleetNow
    let tally: LineTally
    let now: Timestamp

    /// True when the log has ended.
    let isOver: Bool

    package init(_ fleet: FleetNow, tally: LineTally, now: Timestamp, isOver: Bool) {
        self.fleet = fleet
        self.tally = tally
        self.now = now
        self.isOver = isOver
    }

    /// At most `height` lines, each at most `width` columns.
    package func lines(width: Int, height: Int, colours: Bool) -> [String] {
        layout(width: width, height: height).prefix(height).map { $0.styled(width: width, colours: colours) }
    }

    func layout(width: Int, height: Int) -> [ScreenLine] {
        guard fleet.newest != nil else { return [title, ScreenLine(), ScreenLine(expectation, .faint)] }
        // Reserve ten lines: the title, two lines of totals, three headers, three empty lines and the last line.
        let faults = faults.prefix(4).map { ScreenLine($0, .bad) }
        let free = max(3, height - 10 - faults.count)
        let providers = providerRows(most: max(2, free / 4))
        let rows = max(3, free / 2)
        let foot = width >= 76 ? beside(ruleRows(most: rows), latencyRows(most: rows)) : latencyRows(most: rows)
        let workers = workerRows(most: max(1, free - (providers.count - 1) - (foot.count - 1)), width: width)
        return [title] + totals + faults + [ScreenLine()] + workers + [ScreenLine()] + providers + [ScreenLine()] + foot
            + [
                troubleLine
            ]
    }

    /// One line with the most important figures, for a pipe.
    package var summary: String {
        let paused = fleet.providers(at: now).filter { $0.pausing > 0 }.map { "\($0.name) \($0.pausing)/\($0.workers)" }
        let line = ScreenLine(
            "\(Figure.time(now)) \(Figure.count(fleet.live(at: now).count, "worker"))"
                + (silent > 0 ? " (\(silent) silent)" : "") + ", "
                + figures.map { "\($0.name) \($0.text)" }.joined(separator: ", ")
                + (paused.isEmpty ? "" : ", paused: \(paused.joined(separator: " "))")
                + faults.map { ", \($0)" }.joined()
        )
        return line.plain(width: .max)
    }

    /// The faults of topics and policies with the number of affected workers, such as "cannot publish to
    /// verification.deliveries (too few in sync) 2/3".
    private var faults: [String] {
        let workers = fleet.live(at: now).count
        return fleet.topicFaults(at: now).map { "\($0.sentence) \($0.workers)/\(workers)" }
            + fleet.policyFaults(at: now).map { "policy refused \($0.workers)/\(workers): \($0.fault)" }
            + [brake].compactMap(\.self)
    }

    /// The line of the toll-fraud brake, while it blocks a scope or stops a request.
    ///
    /// Each worker knows all blocks.
    private var brake: String? {
        let live = fleet.live(at: now)
        let blocked = live.compactMap { $0.last.stats.brake["blocked"] }.max() ?? 0
        let (refused, recorded) = (perMinute("refused"), perMinute("recorded"))
        guard blocked + refused + recorded > 0 else { return nil }
        func perMinute(_ name: String) -> Double { live.reduce(0) { $0 + 60 * $1.rate { $0.brake[name] ?? 0 } } }
        let scopes = Figure.count(Int(min(blocked, 1e9)), "scope")
        return "brake: \(scopes) blocked, \(Figure.short(refused)) requests/min refused, "
            + "\(Figure.short(recorded)) only recorded"
    }

    /// The text before the first entry.
    private var expectation: String {
        if isOver { return "The log holds no entry." }
        return tally.doubt ?? "Waiting for the first line ..."
    }

    private var silent: Int { fleet.workers.values.count { $0.isSilent(at: now) } }
}

// MARK: - Totals

extension TopScreen {
    private var title: ScreenLine {
        var line = ScreenLine("code-courier top", .strong)
        if fleet.newest != nil { line.add("  \(Figure.time(now)) UTC") }
        line.add("  \(Figure.count(fleet.live(at: now).count, "worker"))")
        if silent > 0 { line.add(", \(silent) silent", .bad) }
        if tally.broken > 0 { line.add("  \(Figure.count(tally.broken, "line")) broken", .doubtful) }
        if isOver { line.add("  log has ended", .doubtful) }
        line.add("  q quits", .faint)
        return line
    }

    private struct Total {
        let name: String
        let text: String
        var style = ScreenLine.Style.strong
    }

    private var figures: [Total] {
        let live = fleet.live(at: now)
        func rate(_ status: String) -> Double { live.reduce(0) { $0 + $1.rate { $0.decisions[status] ?? 0 } } }
        func most(_ value: (WorkerStats) -> Double?) -> String {
            live.compactMap { value($0.last.stats) }.max().map(Figure.short) ?? "-"
        }
        func perMinute(_ count: (WorkerStats) -> Double) -> Double { live.reduce(0) { $0 + 60 * $1.rate(count) } }
        let sent = rate("sent")
        let unknown = rate("unknown")
        let unknownShare = unknown > 0 ? unknown / (sent + unknown) : 0
        let failed = rate("failed")
        let letters = perMinute(\.deadLetters)
        let failures = perMinute { ($0.errors["postgres"] ?? 0) + ($0.errors["kafka"] ?? 0) }
        let inFlight = live.reduce(0) { $0 + ($1.last.stats.inFlight ?? 0) }
        return [
            Total(name: "requests/s", text: Figure.short(live.reduce(0) { $0 + $1.rate(\.requests) })),
            Total(name: "sent/s", text: Figure.short(sent)),
            Total(name: "rejected/s", text: Figure.short(rate("rejected"))),
            Total(name: "failed/s", text: Figure.short(failed), style: failed > 0 ? .bad : .strong),
            Total(name: "unknown", text: Figure.percent(unknownShare), style: unknownShare > 0.01 ? .bad : .strong),
            Total(name: "lag", text: Figure.short(fleet.lag.values.reduce(0, +))),
            Total(name: "due", text: most(\.dueSends)),
            Total(name: "outbox", text: most(\.outbox)),
            Total(name: "in flight", text: Figure.short(inFlight)),
            Total(name: "dead letters/min", text: Figure.short(letters), style: letters > 0 ? .doubtful : .strong),
            Total(name: "retries/min", text: Figure.short(failures), style: failures > 0 ? .doubtful : .strong),
        ]
    }

    private var totals: [ScreenLine] {
        let figures = figures
        return [figures.prefix(5), figures.dropFirst(5)].map { part in
            part.reduce(into: ScreenLine()) { line, total in
                line.add(line.width == 0 ? "\(total.name) " : "  \(total.name) ", .faint)
                line.add(total.text, total.style)
            }
        }
    }

    private var troubleLine: ScreenLine {
        guard let trouble = fleet.trouble else { return ScreenLine() }
        let kind = Problem.kind(of: trouble)
        var line = ScreenLine("\(Figure.clock(trouble.time)) ", .faint)
        line.add("\(kind.severity) \(kind.event)", trouble.severity >= .error ? .bad : .doubtful)
        line.add(" \(kind.detail)")
        return line
    }
}
