// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The admissions of one key within its longest limit: a sliding window.
///
/// It counts exactly up to `exactEntries` entries. Its row is rewritten at each admission, so beyond that, admissions
/// close to each other are merged into one entry, which counts until the newest of them leaves the window. No span of
/// `per` ever has more than `count` admissions, and capacity is freed at most `per / 256` late.
package struct LimitWindow: Sendable, Equatable {
    fileprivate struct Entry: Sendable, Equatable {
        /// The time of the newest of its admissions.
        let time: Timestamp
        let count: UInt32
    }

    private var entries: [Entry] = []

    /// The maximum number of entries before any are merged: at 12 bytes each, 6 KB.
    ///
    /// The largest default limit is 500, so the default limits are exact.
    package static let exactEntries = 512

    package init() {}

    /// The first of the limits that one more admission would exceed, or nil.
    ///
    /// An admission counts for less than `per`: at exactly `per` later it no longer counts.
    func firstBroken(of limits: [RateLimit], at now: Timestamp) -> RateLimit? {
        limits.first { used(in: $0, at: now) >= $0.count }
    }

    /// The time from which none of the limits refuses one more admission.
    func opening(under limits: [RateLimit], at now: Timestamp) -> Timestamp {
        limits.map { opening(under: $0, at: now) }.max() ?? now
    }

    private func opening(under limit: RateLimit, at now: Timestamp) -> Timestamp {
        var excess = used(in: limit, at: now) - limit.count
        guard excess >= 0 else { return now }
        for entry in entries where entry.time > now - limit.per {
            excess -= Int(entry.count)
            if excess < 0 { return entry.time + limit.per }
        }
        return now + limit.per
    }

    /// True if the window exceeds none of the limits.
    func holds(_ limits: [RateLimit], at now: Timestamp) -> Bool {
        limits.allSatisfy { used(in: $0, at: now) <= $0.count }
    }

    private func used(in limit: RateLimit, at now: Timestamp) -> Int {
        let start = now - limit.per
        return entries.lazy.filter { $0.time > start }.reduce(0) { $0 + Int($1.count) }
    }

    /// The admissions of both windows that some limit still counts.
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

    /// Counts one admission, and removes those that no limit counts any more.
    package mutating func admit(at now: Timestamp, limits: [RateLimit]) {
        forget(under: limits, at: now)
        if let last = entries.last, last.time == now {
            entries[entries.count - 1] = last.joined(with: Entry(time: now, count: 1))
        } else {
            entries.append(Entry(time: now, count: 1))
            coarsen(under: limits, at: now)
        }
    }

    /// Merges the entries that fall into the same grain of time.
    ///
    /// Grains are aligned to multiples of their size, which is a power of two, so each grain lies within one of every
    /// larger size. An entry therefore stays within the grain of its oldest admission, however often it is merged.
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

    /// The largest power of two, in microseconds, up to 1/256 of the shortest limit that still counts this age.
    private static func grain(under limits: [RateLimit], ofAge age: Duration) -> Int64 {
        let shortest = limits.lazy.map(\.per).filter { $0 > age }.min() ?? .zero
        let most = max(1, shortest.microseconds / 256)
        return 1 << (Int64.bitWidth - 1 - most.leadingZeroBitCount)
    }

    /// The time from which the window no longer matters; nil if it is empty.
    func expiry(under limits: [RateLimit]) -> Timestamp? {
        entries.lazy.map(\.time).max().map { $0 + (limits.lazy.map(\.per).max() ?? .zero) }
    }

    /// The row's format: 12 bytes an entry, microseconds since 1970 and a count, both big-endian.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(entries.count * 12)
        for entry in entries {
            withUnsafeBytes(of: entry.time.microseconds.bigEndian) { bytes.append(contentsOf: $0) }
            withUnsafeBytes(of: entry.count.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// Reads the format of `encoded`; ignores an incomplete last entry.
    package init(encoded bytes: [UInt8]) {
        for start in stride(from: 0, through: bytes.count - 12, by: 12) {
            let time = bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let count = bytes[start + 8..<start + 12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            entries.append(Entry(time: Timestamp(microseconds: Int64(bitPattern: time)), count: count))
        }
    }
}

extension LimitWindow.Entry {
    /// Both as one entry, with the time of the newer one.
    fileprivate func joined(with newer: Self) -> Self {
        let (sum, isTooLarge) = count.addingReportingOverflow(newer.count)
        return Self(time: max(time, newer.time), count: isTooLarge ? .max : sum)
    }
}

/// A window that includes the admissions of a batch.
package struct WindowChange: Sendable {
    package let window: LimitWindow

    /// The time from which the window no longer matters.
    package let expiry: Timestamp

    /// The limits that use the window, and the time of the batch's admissions.
    private let limits: [RateLimit]
    private let now: Timestamp

    package init(_ window: LimitWindow, under limits: [RateLimit], at now: Timestamp) {
        self.window = window
        self.limits = limits
        self.now = now
        expiry = window.expiry(under: limits) ?? now
    }

    /// The window merged with one that another batch wrote first; nil if some admission would then exceed a limit.
    package func following(_ earlier: LimitWindow) -> WindowChange? {
        let both = window.joined(with: earlier, under: limits, at: now)
        return both.holds(limits, at: now) ? WindowChange(both, under: limits, at: now) : nil
    }
}

extension IntakeChanges {
    /// The changes merged with windows that other transactions created after the facts were read; nil if a decision
    /// would differ.
    package func following(_ begun: [LimitKey: LimitWindow]) -> IntakeChanges? {
        var changes = self
        for (key, earlier) in begun {
            if fullWindows[key] != nil { return nil }
            guard let change = windows[key] else { continue }
            guard let behind = change.following(earlier) else { return nil }
            changes.windows[key] = behind
        }
        return changes
    }
}
