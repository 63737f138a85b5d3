// SPDX-License-Identifier: Apache-2.0

/// The admissions of one key, as far back as its limits look: a sliding window.
///
/// It counts exactly while it has at most `exactEntries`. Its row is written whole at each admission, so beyond that
/// admissions that are close together become one entry, which counts until the newest of them is forgotten. No time of
/// `per` ever has more than `count` admissions, and a place becomes free less than `per / 256` later than it might.
package struct LimitWindow: Sendable, Equatable {
    fileprivate struct Entry: Sendable, Equatable {
        /// Of the newest of its admissions.
        let time: Timestamp
        let count: UInt32
    }

    /// In the order of their times.
    private var entries: [Entry] = []

    /// The default limits, of which the largest has 500, stay exact; 12 bytes each make 6 KB.
    package static let exactEntries = 512

    package init() {}

    /// The first of the limits that one more admission would break, or nil.
    ///
    /// An admission counts for less than `per`: at exactly `per` later it is forgotten.
    func firstBroken(of limits: [RateLimit], at now: Timestamp) -> RateLimit? {
        limits.first { used(in: $0, at: now) >= $0.count }
    }

    /// Whether nothing of it should have been refused.
    func holds(_ limits: [RateLimit], at now: Timestamp) -> Bool {
        limits.allSatisfy { used(in: $0, at: now) <= $0.count }
    }

    private func used(in limit: RateLimit, at now: Timestamp) -> Int {
        let start = now - limit.per
        return entries.lazy.filter { $0.time > start }.reduce(0) { $0 + Int($1.count) }
    }

    /// The admissions of both that a limit looks back to.
    func joined(with other: LimitWindow, under limits: [RateLimit], at now: Timestamp) -> LimitWindow {
        var both = self
        both.entries = (other.entries + entries).sorted { $0.time < $1.time }
        both.forget(under: limits, at: now)
        both.coarsen(under: limits, at: now)
        return both
    }

    private mutating func forget(under limits: [RateLimit], at now: Timestamp) {
        let horizon = now - (limits.lazy.map(\.per).max() ?? .zero)
        entries.removeAll { $0.time <= horizon }
    }

    /// Counts one admission, and forgets those that no limit looks back to.
    package mutating func admit(at now: Timestamp, limits: [RateLimit]) {
        forget(under: limits, at: now)
        if let last = entries.last, last.time == now {
            entries[entries.count - 1] = last.joined(with: Entry(time: now, count: 1))
        } else {
            entries.append(Entry(time: now, count: 1))
            coarsen(under: limits, at: now)
        }
    }

    /// Makes one entry of those that share a grain of time.
    ///
    /// Grains lie where they lie whenever this is done, and each one is within one of every coarser size. So an entry stays
    /// within the grain of its oldest admission, however often it is joined with others.
    private mutating func coarsen(under limits: [RateLimit], at now: Timestamp) {
        guard entries.count > Self.exactEntries else { return }
        var coarse: [Entry] = []
        for entry in entries {
            let grain = Self.grain(under: limits, ofAge: now - entry.time)
            if let last = coarse.last, last.time.microseconds / grain == entry.time.microseconds / grain {
                coarse[coarse.count - 1] = last.joined(with: entry)
            } else {
                coarse.append(entry)
            }
        }
        entries = coarse
    }

    /// The largest power of two of microseconds that is at most a 256th of the shortest limit that still counts this age.
    private static func grain(under limits: [RateLimit], ofAge age: Duration) -> Int64 {
        let shortest = limits.lazy.map(\.per).filter { $0 > age }.min() ?? .zero
        let most = max(1, shortest.microseconds / 256)
        return 1 << (Int64.bitWidth - 1 - most.leadingZeroBitCount)
    }

    /// When the window may be forgotten.
    func expiry(under limits: [RateLimit]) -> Timestamp? {
        entries.lazy.map(\.time).max().map { $0 + (limits.lazy.map(\.per).max() ?? .zero) }
    }

    /// As a row keeps it: 12 bytes an entry, microseconds since 1970 and a count, big-endian.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(entries.count * 12)
        for entry in entries {
            withUnsafeBytes(of: entry.time.microseconds.bigEndian) { bytes.append(contentsOf: $0) }
            withUnsafeBytes(of: entry.count.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// Reads what `encoded` wrote; an incomplete last entry is left out.
    package init(encoded bytes: [UInt8]) {
        for start in stride(from: 0, through: bytes.count - 12, by: 12) {
            let time = bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let count = bytes[start + 8..<start + 12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            entries.append(Entry(time: Timestamp(microseconds: Int64(bitPattern: time)), count: count))
        }
    }
}

extension LimitWindow.Entry {
    /// Both as one, which is forgotten with the newer one.
    fileprivate func joined(with newer: Self) -> Self {
        let (sum, isTooLarge) = count.addingReportingOverflow(newer.count)
        return Self(time: max(time, newer.time), count: isTooLarge ? .max : sum)
    }
}
