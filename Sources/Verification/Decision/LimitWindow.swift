// SPDX-License-Identifier: Apache-2.0

/// The admissions of one key, as far back as its limits look: a sliding window that counts exactly.
package struct LimitWindow: Sendable, Equatable {
    private struct Entry: Sendable, Equatable {
        let time: Timestamp
        let count: UInt32
    }

    private var entries: [Entry] = []

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
            entries[entries.count - 1] = Entry(time: now, count: last.count + 1)
        } else {
            entries.append(Entry(time: now, count: 1))
        }
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

/// Whose admissions a window counts.
package struct LimitKey: Sendable, Hashable, RankedKey {
    package enum Scope: String, Sendable {
        case recipient
        case ip
    }

    package let scope: Scope
    package let tenant: String

    /// A keyed fingerprint.
    package let fingerprint: [UInt8]

    package init(scope: Scope, tenant: String, fingerprint: [UInt8]) {
        self.scope = scope
        self.tenant = tenant
        self.fingerprint = fingerprint
    }

    package var rank: UInt64 { fingerprint.leadingWord }

    /// The one order in which rows of windows are locked.
    package static func < (left: LimitKey, right: LimitKey) -> Bool {
        if let isBefore = left.fingerprint.comesBefore(right.fingerprint) { return isBefore }
        guard left.scope == right.scope else { return left.scope.rawValue < right.scope.rawValue }
        return left.tenant < right.tenant
    }

    /// Few keys share a fingerprint.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
    }
}
