// SPDX-License-Identifier: Apache-2.0

/// Sums by name as bars, each cut into its outcomes.
struct BarChart {
    let title: String
    let unit: String
    let rows: [(name: String, tally: Tally)]

    /// More are in the table alone.
    private static let most = 15

    /// The outcomes of all rows, in the order of the legend.
    private var outcomes: [String] { Palette.ordered(Set(rows.flatMap { $0.tally.sums.keys })) }

    var html: String {
        let outcomes = outcomes
        let longest = rows.first?.tally.total ?? 1
        let bars = rows.prefix(Self.most).map { row in
            """
            <li><span>\(Markup.escape(row.name))</span><div class="bar" style="width:\(width(row.tally.total, of: longest))">\
            \(pieces(row.tally, outcomes))</div><b>\(Figure.short(row.tally.total))</b></li>
            """
        }
        return """
            <figure class="chart"><figcaption>\(Markup.escape(title)) <small>\(Markup.escape(unit))</small></figcaption>
            \(Markup.legend(outcomes.enumerated().map { ($1, Palette.style($1, at: $0)) }))
            <ol class="bars" aria-hidden="true">
            \(bars.joined(separator: "\n"))
            </ol>
            \(rows.count > Self.most ? "<p class=\"note\">\(rows.count - Self.most) more in the table.</p>" : "")
            \(Markup.folded(table(outcomes)))
            </figure>
            """
    }

    private func pieces(_ tally: Tally, _ outcomes: [String]) -> String {
        outcomes.enumerated().map { index, outcome in
            guard tally[outcome] > 0 else { return "" }
            let title = Markup.escape("\(outcome) \(Figure.whole(tally[outcome]))")
            let style = Palette.style(outcome, at: index)
            return
                "<i class=\"\(style)\" style=\"width:\(width(tally[outcome], of: tally.total))\" title=\"\(title)\"></i>"
        }.joined()
    }

    private func table(_ outcomes: [String]) -> String {
        Markup.table(
            caption: title,
            head: ["name"] + outcomes + ["all"],
            rows: rows.map { row in
                [row.name] + outcomes.map { Figure.whole(row.tally[$0]) } + [Figure.whole(row.tally.total)]
            }
        )
    }

    private func width(_ part: Double, of whole: Double) -> String {
        "\(Double(Int(1000 * min(max(part / max(whole, 1e-9), 0), 1))) / 10)%"
    }
}
