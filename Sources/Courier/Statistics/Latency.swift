// SPDX-License-Identifier: Apache-2.0

import Formats
import Histogram
import Verification

/// The measured durations of `worker.stats`.
package enum Latency: String, Sendable, CaseIterable {
    /// From the read of a batch until its decisions are durable.
    case intake

    /// From the append of a record until its decision.
    case queue

    /// From the claim of a send until the call to its provider.
    case dispatch

    case provider

    /// Writing the outcomes of a batch of sends.
    case record

    /// From producing a record until the broker acknowledges it.
    case publish

    /// From the append of a record until the call to its provider.
    case requestToProvider = "request_to_provider"

    /// From the append of a record until the broker acknowledges its event.
    case requestToEvent = "request_to_event"
}

/// A histogram of durations in microseconds, with two significant digits; longer than an hour counts as an hour.
struct LatencyHistogram: Sendable {
    private static let longest: UInt64 = 3_600_000_000

    private var histogram = Histogram<UInt32>(
        highestTrackableValue: longest,
        numberOfSignificantValueDigits: .two
    )

    /// Records a duration; a negative one, from two clocks that differ, counts as zero.
    mutating func note(_ duration: Duration, count: Int = 1) {
        guard count > 0 else { return }
        let microseconds = min(UInt64(max(0, duration.microseconds)), Self.longest)
        histogram.record(microseconds, count: UInt32(clamping: count))
    }

    mutating func reset() {
        histogram.reset()
    }

    /// Nil when no duration was recorded.
    var percentiles: LatencyPercentiles? {
        guard histogram.totalCount > 0 else { return nil }
        func milliseconds(_ percentile: Double) -> Double {
            Double(min(histogram.valueAtPercentile(percentile), histogram.max)) / 1000
        }
        return LatencyPercentiles(
            count: Int(histogram.totalCount),
            median: milliseconds(50),
            ninetieth: milliseconds(90),
            ninetyNinth: milliseconds(99),
            highest: Double(histogram.max) / 1000
        )
    }
}

/// The percentiles of a histogram, in milliseconds.
package struct LatencyPercentiles: Sendable, Equatable {
    /// The number of durations: the weight of this interval when intervals are combined.
    package let count: Int
    package let median: Double
    package let ninetieth: Double
    package let ninetyNinth: Double
    package let highest: Double
}
