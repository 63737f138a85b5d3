// SPDX-License-Identifier: Apache-2.0

import Verification

/// Values over time, as lines beside each other or as areas on top of each other.
///
/// The drawing stretches with the page while its labels, which are HTML, keep their size: so it is read on a phone too.
struct TimeChart {
    struct Series {
        let name: String
        let style: String

        /// One for each piece of time; nil where nothing is known.
        let values: [Double?]
    }

    let title: String
    let unit: String
    let series: [Series]
    let timeline: TimeBuckets
    var isStacked = false

    private static let width = 1000.0
    private static let height = 300.0

    private var axis: TimeAxis { TimeAxis(start: timeline.origin, end: timeline.end) }

    var html: String {
        let axis = axis
        let scale = ValueAxis(greatest: greatest)
        let rows = scale.ticks.map { tick in
            "<span style=\"bottom:\(percent(tick / scale.top))\">\(Figure.short(tick))</span>"
        }
        let columns = axis.ticks.map { "<span style=\"left:\(percent($0.fraction))\">\($0.label)</span>" }
        return """
            <figure class="chart"><figcaption>\(Markup.escape(title)) <small>\(Markup.escape(unit))</small></figcaption>
            \(series.count > 1 ? Markup.legend(series.map { ($0.name, $0.style) }) : "")
            <div class="plot"><div class="y" aria-hidden="true">\(rows.joined())</div>
            <svg viewBox="0 0 1000 300" preserveAspectRatio="none" role="img" aria-label="\(Markup.escape(summary))">
            \(grid(scale, axis))
            \(isStacked ? areas(scale) : lines(scale))
            \(hints)
            </svg><div class="x" aria-hidden="true">\(columns.joined())</div></div>
            \(Markup.folded(table))
            </figure>
            """
    }

    /// The greatest value that is drawn.
    private var greatest: Double {
        guard isStacked else { return series.flatMap { $0.values.compactMap(\.self) }.max() ?? 0 }
        return timeline.buckets.indices.map { index in series.reduce(0) { $0 + ($1.values[index] ?? 0) } }.max() ?? 0
    }

    private var summary: String {
        let peaks = series.map { "\($0.name) at most \(Figure.short($0.values.compactMap(\.self).max() ?? 0)) \(unit)" }
        return "\(title) over time: \(peaks.joined(separator: ", "))"
    }

    private var table: String {
        Markup.table(
            caption: "\(title), \(unit), UTC",
            head: ["from"] + series.map(\.name),
            rows: timeline.buckets.indices.map { index in
                [Figure.time(timeline.start(of: index))] + series.map { $0.values[index].map(Figure.short) ?? "–" }
            }
        )
    }
}

// MARK: - Drawing

extension TimeChart {
    private func grid(_ scale: ValueAxis, _ axis: TimeAxis) -> String {
        let rows = scale.ticks.map { "M0 \(y($0, scale))H1000" }
        let columns = axis.ticks.map { "M\(place($0.fraction * Self.width)) 0V300" }
        return "<path class=\"grid\" d=\"\((rows + columns).joined())\"/>"
    }

    /// Each series in steps, because what is known of a piece of time holds for all of it; a gap breaks the line.
    private func lines(_ scale: ValueAxis) -> String {
        series.map { line in
            var path = ""
            var isDrawing = false
            for (index, value) in line.values.enumerated() {
                guard let value else {
                    isDrawing = false
                    continue
                }
                path += isDrawing ? "V\(y(value, scale))" : "M\(left(index)) \(y(value, scale))"
                path += "H\(left(index + 1))"
                isDrawing = true
            }
            return "<path class=\"line \(line.style)\" d=\"\(path)\"/>"
        }.joined(separator: "\n")
    }

    private func areas(_ scale: ValueAxis) -> String {
        var floor = [Double](repeating: 0, count: timeline.buckets.count)
        return series.map { area in
            var path = ""
            for (index, value) in area.values.enumerated() where value ?? 0 > 0 {
                let top = floor[index] + (value ?? 0)
                path +=
                    "M\(left(index)) \(y(floor[index], scale))V\(y(top, scale))H\(left(index + 1))V\(y(floor[index], scale))Z"
                floor[index] = top
            }
            return "<path class=\"area \(area.style)\" d=\"\(path)\"/>"
        }.joined(separator: "\n")
    }

    /// What a pointer over the chart is told.
    private var hints: String {
        let hints = timeline.buckets.indices.map { index in
            let values = series.compactMap { line in line.values[index].map { "\(line.name) \(Figure.short($0))" } }
            let words = values.isEmpty ? "nothing is known" : values.joined(separator: ", ")
            let title = Markup.escape("\(Figure.time(timeline.start(of: index))): \(words)")
            let width = place(position(index + 1) - position(index))
            return "<rect x=\"\(left(index))\" width=\"\(width)\" height=\"300\"><title>\(title)</title></rect>"
        }
        return "<g class=\"hints\">\(hints.joined())</g>"
    }

    private func position(_ index: Int) -> Double { axis.fraction(timeline.start(of: index)) * Self.width }

    private func left(_ index: Int) -> String { place(position(index)) }

    private func y(_ value: Double, _ scale: ValueAxis) -> String {
        place(Self.height * (1 - min(value / scale.top, 1)))
    }

    private func place(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }

    private func percent(_ fraction: Double) -> String { "\(place(fraction * 100))%" }
}
