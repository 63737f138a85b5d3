// SPDX-License-Identifier: Apache-2.0

import Formats

extension TopScreen {
    /// Header and rows of the workers, silent ones first.
    func workerRows(most: Int, width: Int) -> [ScreenLine] {
        let workers = fleet.workers.map { (name: $0.key, worker: $0.value, isSilent: $0.value.isSilent(at: now)) }
            .sorted { ($0.isSilent ? 0 : 1, $0.name) < ($1.isSilent ? 0 : 1, $1.name) }
        let nameWidth = min(max(16, width - 60), 48)
        var head = ScreenLine()
        head.cell("WORKER", nameWidth, isNumber: false, .strong)
        for title in ["UP", "REQ/S", "SENT/S", "REJ/S", "LAG", "FLYING"] { head.cell(title, 8, .strong) }
        head.cell("CPU", 6, .strong)
        head.cell("MIB", 6, .strong)
        let fits = workers.count <= most
        var lines = [head] + workers.prefix(fits ? most : max(0, most - 1)).map { row($0.name, $0.worker, nameWidth) }
        if !fits { lines.append(ScreenLine("... \(workers.count - max(0, most - 1)) more", .faint)) }
        return lines
    }

    private func row(_ name: String, _ worker: FleetNow.Worker, _ nameWidth: Int) -> ScreenLine {
        let isSilent = worker.isSilent(at: now)
        let style: ScreenLine.Style = isSilent ? .bad : worker.hasStopped ? .faint : .plain
        var line = ScreenLine()
        line.cell(name, nameWidth, isNumber: false, style)
        guard !isSilent, !worker.hasStopped else {
            line.add("  \(isSilent ? "silent" : "stopped") for \(Figure.span(now - worker.heardAt))", style)
            return line
        }
        let stats = worker.last.stats
        line.cell(stats.uptime.map(Self.short) ?? "-", 8)
        line.cell(Figure.short(worker.rate(\.requests)), 8)
        line.cell(Figure.short(worker.rate { $0.decisions["sent"] ?? 0 }), 8)
        line.cell(Figure.short(worker.rate { $0.decisions["rejected"] ?? 0 }), 8)
        line.cell(stats.lag.isEmpty ? "-" : Figure.short(stats.lag.values.reduce(0, +)), 8)
        line.cell(stats.inFlight.map(Figure.short) ?? "-", 8)
        line.cell(Figure.short(worker.rate { Double(($0.cpu ?? .zero).microseconds) / 1e6 }), 6)
        line.cell(stats.residentBytes.map { Figure.short($0 / 1_048_576) } ?? "-", 6)
        return line
    }

    /// The greatest unit alone, such as `3d` and `12m`.
    private static func short(_ duration: Duration) -> String {
        let seconds = max(0, duration.microseconds / 1_000_000)
        return switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3600: "\(seconds / 60)m"
        case ..<86_400: "\(seconds / 3600)h"
        default: "\(seconds / 86_400)d"
        }
    }

    /// Header and rows of the providers, paused ones first.
    func providerRows(most: Int) -> [ScreenLine] {
        let providers = fleet.providers(at: now).sorted {
            ($1.pausing, $1.probing, $0.name) < ($0.pausing, $0.probing, $1.name)
        }
        var head = ScreenLine()
        head.cell("PROVIDER", 15, isNumber: false, .strong)
        head.cell("BREAKER", 15, isNumber: false, .strong)
        for title in ["ACC/S", "REFUSED", "THROTTLE", "FAILED", "UNKNOWN", "SCORE"] {
            head.cell(title, 8 + title.count / 8, .strong)
        }
        return [head]
            + providers.prefix(most).map { provider in
                var line = ScreenLine()
                let breaker = Self.breaker(provider)
                line.cell(provider.name, 15, isNumber: false)
                line.cell(breaker.text, 15, isNumber: false, breaker.style)
                let failures: Set = ["notSent", "misconfigured"]
                let refusals: Set = ["refused", "impossible", "fraud"]
                line.cell(rate(provider, ["accepted"]), 8)
                line.cell(rate(provider, refusals), 8)
                line.cell(rate(provider, ["throttled"]), 9)
                line.cell(rate(provider, failures), 8)
                line.cell(rate(provider, ["unknown"]), 8)
                line.cell(provider.score.map(Figure.short) ?? "-", 8)
                return line
            }
    }

    private func rate(_ provider: ProviderNow, _ outcomes: Set<String>) -> String {
        Figure.short(provider.rates.reduce(0) { $0 + (outcomes.contains($1.key) ? $1.value : 0) })
    }

    /// The breaker's state.
    ///
    /// Half open is no alarm: it lasts until the next message probes the provider, for a backup perhaps hours.
    private static func breaker(_ provider: ProviderNow) -> (text: String, style: ScreenLine.Style) {
        if provider.pausing > 0 { return ("open \(provider.pausing)/\(provider.workers)", .bad) }
        if provider.probing > 0 { return ("half open \(provider.probing)/\(provider.workers)", .plain) }
        return ("closed", .good)
    }

    func ruleRows(most: Int) -> [ScreenLine] {
        let rules = fleet.rules(at: now).ranked
        let rows = rules.prefix(most).map { rule in
            var line = ScreenLine()
            line.cell(rule.name, 24, isNumber: false)
            line.cell(Figure.short(rule.sum), 7)
            return line
        }
        let head = ScreenLine("REFUSED BY REASON, A MINUTE", .strong)
        return [head] + (rows.isEmpty ? [ScreenLine("none", .faint)] : rows)
    }

    func latencyRows(most: Int) -> [ScreenLine] {
        let latencies = fleet.latencies(at: now)
        var head = ScreenLine()
        head.cell("LATENCY, MS", 19, isNumber: false, .strong)
        for title in ["P50", "P90", "P99", "MAX"] { head.cell(title, 6, .strong) }
        return [head]
            + LatencySummary.ordered(latencies.keys).prefix(most).compactMap { stage in
                latencies[stage].map { summary in
                    var line = ScreenLine()
                    line.cell(stage, 19, isNumber: false)
                    for value in [summary.p50, summary.p90, summary.p99, summary.max] {
                        line.cell(Figure.short(value), 6)
                    }
                    return line
                }
            }
    }

    func beside(_ left: [ScreenLine], _ right: [ScreenLine]) -> [ScreenLine] {
        (0..<max(left.count, right.count)).map { index in
            var line = index < left.count ? left[index] : ScreenLine()
            line.fill(to: 34)
            return index < right.count ? line + right[index] : line
        }
    }
}
