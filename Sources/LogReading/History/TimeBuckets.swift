// SPDX-License-Identifier: Apache-2.0

import Formats

/// Counts over time, in buckets whose common length grows with the span: bounded memory for any log.
struct TimeBuckets {
    /// The maximum number of buckets, as many as a chart has points.
    ///
    /// At least half of it is used once the log is longer than `narrowest` times this.
    static let most = 240

    private static let narrowest: Int64 = 10_000_000

    private(set) var buckets: [TimeBucket] = []

    /// The start of the first bucket.
    private(set) var origin = Timestamp(microseconds: 0)

    /// The length of a bucket in microseconds.
    private(set) var width = narrowest

    /// The end of the known time; the last bucket may be incomplete.
    private(set) var end = Timestamp(microseconds: 0)

    private var coverage = Coverage()

    /// Distributes a worker's amounts over the buckets of a time range, each with its share.
    mutating func spread(from: Timestamp, to: Timestamp, _ add: (inout TimeBucket, _ share: Double) -> Void) {
        reach(from)
        let first = (from - origin).microseconds
        let last = max(first + 1, (to - origin).microseconds)
        cover(last)
        coverage.add(from..<(origin + .microseconds(last)))
        for index in Int(first / width)...Int((last - 1) / width) {
            let start = Int64(index) * width
            let overlap = min(last, start + width) - max(first, start)
            add(&buckets[index], Double(overlap) / Double(last - first))
        }
    }

    /// Changes the bucket of a time.
    mutating func update(at time: Timestamp, _ change: (inout TimeBucket) -> Void) {
        reach(time)
        let place = (time - origin).microseconds
        cover(place + 1)
        change(&buckets[Int(place / width)])
    }

    /// Sets the origin, or prepends buckets for an earlier time, as when one log follows another and begins at an
    /// earlier time.
    private mutating func reach(_ time: Timestamp) {
        guard !buckets.isEmpty else {
            origin = Timestamp(microseconds: time.microseconds / Self.narrowest * Self.narrowest)
            end = time
            return
        }
        guard time < origin else { return }
        func missing() -> Int { Int(((origin - time).microseconds + width - 1) / width) }
        while missing() + buckets.count > Self.most { widen() }
        let count = missing()
        buckets.insert(contentsOf: repeatElement(TimeBucket(), count: count), at: 0)
        origin = origin - .microseconds(Int64(count) * width)
    }

    /// Extends the buckets to cover `length` microseconds after the origin.
    private mutating func cover(_ length: Int64) {
        while length > Int64(Self.most) * width { widen() }
        while Int64(buckets.count) * width < length { buckets.append(TimeBucket()) }
        end = max(end, origin + .microseconds(length))
    }

    /// Doubles the length by merging pairs of buckets.
    private mutating func widen() {
        width *= 2
        buckets = stride(from: 0, to: buckets.count, by: 2).map { index in
            var bucket = buckets[index]
            if index + 1 < buckets.count { bucket.merge(buckets[index + 1]) }
            return bucket
        }
    }

    /// The start of a bucket.
    func start(of index: Int) -> Timestamp {
        origin + .microseconds(Int64(index) * width)
    }

    /// The seconds of a bucket covered by any worker; if zero, nothing is known of it.
    func seconds(of index: Int) -> Double {
        coverage.seconds(in: start(of: index)..<start(of: index + 1))
    }
}

/// The counts of one bucket.
struct TimeBucket {
    var requests = 0.0
    var decisions: [String: Double] = [:]
    var spend: [String: Double] = [:]
    var latencies: [String: LatencySummary] = [:]

    /// The maximum at any time in the bucket.
    var lag: Double?
    var dueSends: Double?
    var outbox: Double?

    mutating func merge(_ later: TimeBucket) {
        requests += later.requests
        decisions.merge(later.decisions, uniquingKeysWith: +)
        spend.merge(later.spend, uniquingKeysWith: +)
        latencies.merge(later.latencies) { $0.merged(with: $1) }
        lag = [lag, later.lag].compactMap(\.self).max()
        dueSends = [dueSends, later.dueSends].compactMap(\.self).max()
        outbox = [outbox, later.outbox].compactMap(\.self).max()
    }
}
