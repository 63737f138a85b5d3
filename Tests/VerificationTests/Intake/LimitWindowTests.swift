// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing

@testable import Verification

/// Compares windows that merge admissions with an exact window that keeps every admission.
@Suite struct LimitWindowTests {
    /// Every admission with its own time, the oldest first.
    private struct Exact {
        var times: [Timestamp] = []

        func used(in per: Duration, at now: Timestamp) -> Int {
            let start = now - per
            var (low, high) = (0, times.count)
            while low < high {
                let middle = (low + high) / 2
                if times[middle] > start { high = middle } else { low = middle + 1 }
            }
            return times.count - low
        }
    }

    private static let limits: [[RateLimit]] = [
        [RateLimit(count: 1500, per: .seconds(86_400))],
        [RateLimit(count: 300, per: .seconds(60)), RateLimit(count: 1500, per: .seconds(3600))],
        [
            RateLimit(count: 50, per: .seconds(1)), RateLimit(count: 700, per: .seconds(77)),
            RateLimit(count: 1800, per: .seconds(1003)),
        ],
    ]

    /// Request rates, as multiples of the lowest rate that keeps a limit full.
    private static let paces: [Double] = [0.3, 1.5, 10]

    @Test(arguments: limits.indices, paces)
    func `no time of a limit's length ever has more than its count, and nothing is refused by much`(
        index: Int,
        pace: Double
    ) {
        let limits = Self.limits[index]
        var random = TestSeed(seed: UInt64(index) * 31 + UInt64(pace * 10))
        let longest = limits.max { $0.per < $1.per } ?? limits[0]
        let step = Double(longest.per.microseconds) / Double(longest.count) / pace
        var window = LimitWindow()
        var exact = Exact()
        var now = Timestamp.test
        var largest = 0
        for _ in 0..<(longest.count * 2) {
            let rest = Int.random(in: 0..<500, using: &random) == 0 ? 300.0 : 1
            now = now + .microseconds(Int64(Double.random(in: 0...2, using: &random) * step * rest))
            let opening = window.opening(under: limits, at: now)
            #expect(window.firstBroken(of: limits, at: opening) == nil, "from then on there is room")
            if let broken = window.firstBroken(of: limits, at: now) {
                #expect(window.firstBroken(of: limits, at: opening - .microseconds(1)) != nil, "and not before")
                // The refusal is early by at most the window's grain (1/256), so a window longer by one grain is full.
                let margin = Duration.microseconds(broken.per.microseconds / 256)
                #expect(exact.used(in: broken.per + margin, at: now) >= broken.count)
            } else {
                for limit in limits { #expect(exact.used(in: limit.per, at: now) < limit.count) }
                window.admit(at: now, limits: limits)
                exact.times.append(now)
            }
            largest = max(largest, window.encoded.count)
        }
        #expect(largest <= (LimitWindow.exactEntries + 1) * 12 * limits.count)
    }

    @Test func `a hundred thousand admissions take some kilobytes`() {
        let limits = [RateLimit(count: 100_000, per: .seconds(86_400))]
        // Rows of earlier versions keep every admission apart: here 99,999 entries, 1.2 MB.
        var window = LimitWindow(
            encoded: (0..<99_999).flatMap { LimitWindow.row(at: .test + .microseconds(Int64($0) * 864_000), count: 1) }
        )
        let last = Timestamp.test + .seconds(86_399)
        #expect(window.firstBroken(of: limits, at: last) == nil)
        window.admit(at: last, limits: limits)
        #expect(window.encoded.count <= 513 * 12)
        #expect(window.firstBroken(of: limits, at: .test + .seconds(86_399)) == limits[0])
        #expect(window.firstBroken(of: limits, at: .test + .seconds(86_400 + 86_400 / 256)) == nil)
    }

    @Test func `a row of fine entries is read as it is, and becomes coarse at the next admission`() {
        let limits = [RateLimit(count: 100_000, per: .seconds(86_400))]
        var bytes: [UInt8] = []
        for number in 0..<5000 {
            var one = LimitWindow()
            one.admit(at: .test + .seconds(number), limits: limits)
            bytes += one.encoded
        }
        var window = LimitWindow(encoded: bytes)
        #expect(window.encoded == bytes)
        window.admit(at: .test + .seconds(5000), limits: limits)
        #expect(window.encoded.count <= 513 * 12)
        let again = LimitWindow(encoded: window.encoded)
        #expect(again == window)
        let now = Timestamp.test + .seconds(5000)
        #expect(again.firstBroken(of: [RateLimit(count: 5001, per: .seconds(86_400))], at: now) != nil)
        #expect(again.firstBroken(of: [RateLimit(count: 5002, per: .seconds(86_400))], at: now) == nil)
    }

    @Test func `few admissions are counted to the microsecond`() {
        let limits = [RateLimit(count: LimitWindow.exactEntries, per: .seconds(3600))]
        var window = LimitWindow()
        for number in 0..<LimitWindow.exactEntries {
            window.admit(at: .test + .microseconds(Int64(number)), limits: limits)
        }
        #expect(window.encoded.count == LimitWindow.exactEntries * 12)
        #expect(window.firstBroken(of: limits, at: .test + .seconds(3600) - .microseconds(1)) == limits[0])
        #expect(window.firstBroken(of: limits, at: .test + .seconds(3600)) == nil)
    }

    @Test func `counts that are too large for a row are the largest, and nothing traps`() {
        let limits = [RateLimit(count: 5, per: .seconds(3600))]
        var window = LimitWindow(encoded: LimitWindow.row(at: .test, count: .max))
        window.admit(at: .test, limits: limits)
        #expect(window.encoded == LimitWindow.row(at: .test, count: .max))
    }
}

extension LimitWindow {
    fileprivate static func row(at time: Timestamp, count: UInt32) -> [UInt8] {
        withUnsafeBytes(of: time.microseconds.bigEndian) { Array($0) }
            + withUnsafeBytes(of: count.bigEndian) { Array($0) }
    }
}
