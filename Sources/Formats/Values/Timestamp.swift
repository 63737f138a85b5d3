// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A point in time: microseconds since 1970-01-01T00:00:00Z.
package struct Timestamp: Sendable, Hashable, Comparable {
    package let microseconds: Int64

    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// A time from milliseconds, Kafka's unit; saturates instead of overflowing.
    package init(milliseconds: Int64) {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
        microseconds = overflow ? (milliseconds < 0 ? .min : .max) : product
    }

    /// The time in whole milliseconds, Kafka's unit.
    package var milliseconds: Int64 { microseconds / 1000 }

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }

    package static func + (time: Timestamp, duration: Duration) -> Timestamp {
        let (sum, overflow) = time.microseconds.addingReportingOverflow(duration.microseconds)
        return Timestamp(microseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    package static func - (time: Timestamp, duration: Duration) -> Timestamp {
        let (difference, overflow) = time.microseconds.subtractingReportingOverflow(duration.microseconds)
        return Timestamp(microseconds: overflow ? (duration < .zero ? .max : .min) : difference)
    }

    package static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        let (difference, overflow) = later.microseconds.subtractingReportingOverflow(earlier.microseconds)
        return .microseconds(overflow ? (later < earlier ? Int64.min : Int64.max) : difference)
    }
}

extension Timestamp {
    /// The time of this machine's clock.
    ///
    /// It is used for ids, log lines, statistics, dead letters of receipts, mails, signatures for providers and the
    /// latency of deliveries. Every decision about a request or a verification uses the database's clock.
    package static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}

extension Duration {
    /// The duration in whole microseconds, saturating.
    package var microseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000) }
}
