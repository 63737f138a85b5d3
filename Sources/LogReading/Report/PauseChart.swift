// SPDX-License-Identifier: Apache-2.0

import Verification

/// When providers were passed over: a row for each, darker where more workers did so.
struct PauseChart {
    let history: PauseHistory
    let axis: TimeAxis

    private var providers: [(name: String, pauses: [PauseHistory.Pause])] {
        Dictionary(grouping: history.pauses, by: \.provider)
            .map { (name: $0.key, pauses: $0.value.sorted { $0.from < $1.from }) }
            .sorted { $0.name < $1.name }
    }

    var html: String {
        let columns = axis.ticks.map { "<span style=\"left:\(percent($0.fraction))\">\($0.label)</span>" }
        let rows = providers.map { provider in
            let marks = provider.pauses.map { pause in
                let left = axis.fraction(pause.from)
                let width = max(axis.fraction(pause.to) - left, 0.002)
                let title = Markup.escape(
                    "\(Figure.time(pause.from)), \(Figure.span(pause.to - pause.from)), \(pause.worker)"
                )
                return
                    "<rect x=\"\(place(left))\" width=\"\(place(width))\" height=\"20\"><title>\(title)</title></rect>"
            }
            return """
                <div class="lane"><span>\(Markup.escape(provider.name))</span>\
                <svg viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">\(marks.joined())</svg></div>
                """
        }
        return """
            <figure class="chart"><figcaption>Providers passed over <small>by any worker</small></figcaption>
            <div class="lanes">\(rows.joined(separator: "\n"))</div>
            <div class="x under-lanes" aria-hidden="true">\(columns.joined())</div>
            \(Markup.table(caption: "Providers passed over", head: Self.head, rows: providers.map { row($0.name, $0.pauses) }))
            \(history.omitted > 0 ? "<p class=\"note\">\(history.omitted) more periods are not shown.</p>" : "")
            </figure>
            """
    }

    private static let head = ["provider", "periods", "workers", "in all", "longest", "first", "last end"]

    private func row(_ name: String, _ pauses: [PauseHistory.Pause]) -> [String] {
        let lengths = pauses.map { $0.to - $0.from }
        return [
            name, "\(pauses.count)", "\(Set(pauses.map(\.worker)).count)",
            Figure.span(Self.covered(pauses)), Figure.span(lengths.max() ?? .zero),
            pauses.map(\.from).min().map(Figure.time) ?? "–", pauses.map(\.to).max().map(Figure.time) ?? "–",
        ]
    }

    /// The time in which at least one worker passed the provider over; the pauses are in the order of their beginnings.
    static func covered(_ pauses: [PauseHistory.Pause]) -> Duration {
        var sum = Duration.zero
        var until: Timestamp?
        for pause in pauses {
            let from = max(pause.from, until ?? pause.from)
            if pause.to > from { sum += pause.to - from }
            until = max(pause.to, until ?? pause.to)
        }
        return sum
    }

    private func place(_ fraction: Double) -> String { "\((fraction * 10_000).rounded() / 10)" }

    private func percent(_ fraction: Double) -> String { "\((fraction * 1000).rounded() / 10)%" }
}
