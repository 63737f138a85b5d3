// SPDX-License-Identifier: Apache-2.0

import Verification

/// What happened over time, in pieces of equal length that grow with the span: bounded memory for any log.
struct TimeBuckets {
    /// As many points as a chart shows; half of it at least once the log is longer than `narrowest` times this.
    static let most = 240

    private static let narrowest: Int64 = 10_000_000

    private(set) var buckets: [TimeBucket] = []

    /// When the first begins.
    private(set) var origin = Timestamp(microseconds: 0)

    /// The length of one in microseconds.
    private(set) var width = narrowest

    /// Until when anything is known; the last one may not be over.
    private(set) var end = Timestamp(microseconds: 0)

    private var coverage = Coverage()

    /// Gives each piece that lies between the times its share of what a worker tells of them.
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

    /// The piece that a time lies in.
    mutating func update(at time: Timestamp, _ change: (inout TimeBucket) -> Void) {
        reach(time)
        let place = (time - origin).microseconds
        cover(place + 1)
        change(&buckets[Int(place / width)])
    }

    /// Begins with a time, or puts pieces in front where it is earlier: logs may come one after the other, each from its
    /// own beginning.
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

    /// Makes room for what ends so many microseconds after the origin.
    private mutating func cover(_ length: Int64) {
        while length > Int64(Self.most) * width { widen() }
        while Int64(buckets.count) * width < length { buckets.append(TimeBucket()) }
        end = max(end, origin + .microseconds(length))
    }

    /// Makes one piece of every two.
    private mutating func widen() {
        width *= 2
        buckets = stride(from: 0, to: buckets.count, by: 2).map { index in
            var bucket = buckets[index]
            if index + 1 < buckets.count { bucket.merge(buckets[index + 1]) }
            return bucket
        }
    }

    /// When a piece begins.
    func start(of index: Int) -> Timestamp {
        origin + .microseconds(Int64(index) * width)
    }

    /// The seconds of a piece that any worker told of: with none, nothing is known of it.
    func seconds(of index: Int) -> Double {
        coverage.seconds(in: start(of: index)..<start(of: index + 1))
    }
}

/// What happened in one piece of time.
struct TimeBucket {
    var requests = 0.0
    var decisions: [String: Double] = [:]
    var latencies: [String: LatencySummary] = [:]

    /// The most at any time.
    var lag: Double?
    var dueSends: Double?
    var outbox: Double?

    mutating func merge(_ later: TimeBucket) {
        requests += later.requests
        decisions.merge(later.decisions, uniquingKeysWith: +)
        latencies.merge(later.latencies) { $0.merged(with: $1) }
        lag = [lag, later.lag].compactMap(\.self).max()
        dueSends = [dueSends, later.dueSends].compactMap(\.self).max()
        outbox = [outbox, later.outbox].compactMap(\.self).max()
    }
}
