// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing

@testable import Formats

@Suite struct RFC3339Tests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-20T12:34:56.789Z", 1_795_178_096_789_000),
            ("2026-11-20t12:34:56.789z", 1_795_178_096_789_000),
            ("2026-11-20T13:34:56.789+01:00", 1_795_178_096_789_000),
            ("2026-11-20T12:34:56.789-00:00", 1_795_178_096_789_000),
            ("2026-11-20T07:04:56.789-05:30", 1_795_178_096_789_000),
            ("1970-01-01T00:00:00.1Z", 100_000), ("1970-01-01T00:00:00.123456789Z", 123_456),
            ("1969-12-31T23:59:59.999999Z", -1), ("2000-02-29T00:00:00Z", 951_782_400_000_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000), ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
            ("1990-12-31T23:59:60Z", 662_687_999_999_999), ("1990-12-31T15:59:60.5-08:00", 662_687_999_999_999),
            ("1970-01-01T00:00:00-23:59", 86_340_000_000), ("1970-01-01T00:00:00+23:59", -86_340_000_000),
        ] as [(String, Int64)]
    )
    func `a date and time is read to the microsecond`(text: String, microseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.microseconds == microseconds)
    }

    @Test(
        arguments: [
            "", "Z", "2026-11-20", "2026-11-20T12:34:56", "2026-11-20 12:34:56Z", "2026-11-20T12:34Z",
            "20261120T123456Z",
            "2026-11-20T12:34:56.Z", "2026-11-20T12:34:56,5Z", "2026-11-20T12:34:56.1234567890Z",
            "2026-11-20T12:34:56ZZ",
            "2026-11-20T12:34:56+0100", "2026-11-20T12:34:56+01", "2026-11-20T12:34:56+24:00",
            "2026-11-20T12:34:56+01:60",
            "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
            "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:60Z", "1990-12-31T23:59:60-08:00",
            "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "10000-01-01T00:00:00Z",
            "-001-01-01T00:00:00Z", "+2026-11-20T12:34:56Z", " 2026-11-20T12:34:56Z", "2026-11-20T12:34:56Z ",
            "２026-11-20T12:34:56Z", "2026-1-20T12:34:56Z", "1700000000",
        ]
    )
    func `what is no date and time is nil`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test(arguments: [
        "2026-11-20T12:34:56.789Z", "2026-11-20t12:34:56.789z", "2026-11-20 12:34:56.789Z",
        "2026-11-20T13:34:56.789+0100",
        "2026-11-20 13:34:56.789+01", "2026-11-20 12:34:56.789+00:00", "2026-11-20T12:34:56.789000+0000",
        "2026-11-20 12:34:56.789000-00", "2026-11-20T07:04:56.789-0530",
    ])
    func `a time is read as PHP, Java, Python and PostgreSQL write it`(text: String) {
        #expect(Timestamp(serialized: text)?.microseconds == 1_795_178_096_789_000)
    }

    @Test(arguments: [
        "2026-11-20 12:34:56", "2026-11-20  12:34:56Z", "2026-11-20 12:34:56 Z", "2026-11-20 12:34:56 +0000",
        "2026-11-20 12:34:56 UTC", "2026-11-20T12:34Z", "2026-11-20T12:34:56,5Z", "2026-11-20T12:34:56+01:",
        "2026-11-20T12:34:56+0", "2026-11-20T12:34:56+010", "2026-11-20T12:34:56+2400", "2026-11-20T12:34:56+0160",
        "2026-11-20T12:34:56+24", "2026-11-20T12:34:56+01000", "2026-11-20_12:34:56Z", "20261120T123456Z",
        "2026-11-20T12:34:56Z[UTC]", "2026-11-20T12:34:56+01:00[Europe/Paris]", "1795178096",
    ])
    func `a time that leaves something open is none`(text: String) {
        #expect(Timestamp(serialized: text) == nil)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_795_178_096_789_999, "2026-11-20T12:34:56.789Z"),
            (-1, "1969-12-31T23:59:59.999Z"), (951_868_799_999_000, "2000-02-29T23:59:59.999Z"),
            (.min, "0001-01-01T00:00:00.000Z"), (.max, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)]
    )
    func `a time is written in UTC with milliseconds`(microseconds: Int64, text: String) {
        #expect(Timestamp(microseconds: microseconds).rfc3339 == text)
    }

    @Test func `every day of four centuries is written and read back`() {
        let wrong = (Int64(-60_000)..<90_000).first { day in
            let time = Timestamp(microseconds: day * 86_400_000_000 + 43_199_999_000)
            return Timestamp(rfc3339: time.rfc3339) != time
        }
        #expect(wrong == nil)
    }

    @Test func `random times are written as Foundation writes them`() {
        var seed = TestSeed("times")
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for _ in 0..<2000 {
            // Years 1700 to 2600 in half seconds, which a double represents exactly.
            let seconds = Int64(seed.next() % 28_400_000_000) - 8_520_000_000
            let date = Date(timeIntervalSince1970: Double(seconds) + 0.5)
            #expect(Timestamp(microseconds: seconds * 1_000_000 + 500_000).rfc3339 == date.formatted(style))
        }
    }

    @Test func `no text traps the reader`() {
        var seed = TestSeed("time texts")
        let samples = ["2026-11-20T12:34:56.789Z", "1990-12-31T23:59:60-08:00"].map { Array($0.utf8) }
        for _ in 0..<12_000 {
            let text = String(decoding: seed.mutate(samples[seed.below(2)]), as: UTF8.self)
            if let time = Timestamp(rfc3339: text) { #expect(time.rfc3339.utf8.count == 24) }
        }
    }
}
