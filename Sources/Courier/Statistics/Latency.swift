// SPDX-License-Identifier: Apache-2.0

import Histogram
import Verification

/// The ways of a request whose durations are told in `worker.stats`.
package enum Latency: String, Sendable, CaseIterable {
    /// A batch is read until its decisions are durable.
    case intake

    /// A record is appended until it is decided.
    case queue

    /// A send is claimed until its provider is called.
    case dispatch

    /// One call to a provider.
    case provider

    /// What became of a batch of sends is being written.
    case record

    /// A batch of events is being produced.
    case publish

    /// A record is appended until its provider is called.
    case requestToProvider = "request_to_provider"

    /// A record is appended until the broker has the event that answers it.
    case requestToEvent = "request_to_event"
}

/// A histogram of durations, in microseconds, to one percent; a longer one than an hour counts as an hour.
struct LatencyHistogram: Sendable {
    private static let longest: UInt64 = 3_600_000_000

    private var histogram = Histogram<UInt32>(
        highestTrackableValue: longest,
        numberOfSignificantValueDigits: .two
    )

    /// Notes a duration; a negative one, between two clocks that differ, counts as none.
    mutating func note(_ duration: Duration, count: Int = 1) {
        guard count > 0 else { return }
        let microseconds = min(UInt64(max(0, duration.microseconds)), Self.longest)
        histogram.record(microseconds, count: UInt32(clamping: count))
    }

    mutating func reset() {
        histogram.reset()
    }

    /// Nil when nothing was noted.
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

/// The figures of a histogram for an operator, in milliseconds.
package struct LatencyPercentiles: Sendable, Equatable {
    /// The number of durations, which is the weight beside other intervals.
    package let count: Int
    package let median: Double
    package let ninetieth: Double
    package let ninetyNinth: Double
    package let highest: Double
}
