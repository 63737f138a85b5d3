// SPDX-License-Identifier: Apache-2.0

import Verification

/// Where times stand on a chart, and which of them are written below it.
struct TimeAxis {
    let start: Timestamp
    let end: Timestamp

    private static let steps: [Int64] = [
        1, 2, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
        2_592_000, 7_776_000, 31_536_000,
    ]

    /// From 0 at the start to 1 at the end.
    func fraction(_ time: Timestamp) -> Double {
        let length = max(1, (end - start).microseconds)
        return min(max(Double((time - start).microseconds) / Double(length), 0), 1)
    }

    /// At most six, at round times of UTC.
    var ticks: [(fraction: Double, label: String)] {
        let seconds = max(1, (end - start).microseconds / 1_000_000)
        let step = (Self.steps.first { seconds / $0 <= 5 } ?? seconds) * 1_000_000
        var ticks: [(fraction: Double, label: String)] = []
        var time = (start.microseconds + step - 1) / step * step
        while time <= end.microseconds, ticks.count < 8 {
            let stamp = Timestamp(microseconds: time)
            ticks.append((fraction(stamp), label(stamp, step: step / 1_000_000)))
            time += step
        }
        return ticks
    }

    private func label(_ time: Timestamp, step: Int64) -> String {
        let text = Figure.time(time)
        if step >= 86_400 { return String(text.dropFirst(5).prefix(5)) }
        return String(text.dropFirst(11).prefix(step < 60 ? 8 : 5))
    }
}

/// From 0 to a round number above the greatest value.
struct ValueAxis {
    let top: Double
    let ticks: [Double]

    init(greatest: Double) {
        // Beyond these bounds no step is found: what is left of a tiny number after the division may be 0.
        let greatest = (1e-9...1e300).contains(greatest) ? greatest : 1
        var step = 1.0
        while step > greatest / 4 { step /= 10 }
        while step * 10 <= greatest / 4 { step *= 10 }
        step *= [1, 2, 2.5, 5].first { step * $0 >= greatest / 4 } ?? 10
        let count = max(1, (greatest / step).rounded(.up))
        top = count * step
        ticks = (0...Int(count)).map { Double($0) * step }
    }
}
