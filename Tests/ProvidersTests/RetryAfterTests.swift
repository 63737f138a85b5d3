// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing
import Verification

@testable import Providers

@Suite struct `The time that a provider asks to wait` {
    @Test(
        arguments: [
            ("0", .zero), ("7", .seconds(7)), ("86401", .seconds(86_400)),
            ("9223372036854775807", .seconds(86_400)), ("99999999999999999999999", nil), ("-1", nil), ("", nil),
            ("Mon, 23 Nov 2026 15:00:10 GMT", .seconds(10)), ("Tue, 01 Dec 2026 00:00:00 GMT", .seconds(86_400)),
            ("Mon, 23 Nov 2026 16:00:00 GMT", .seconds(3600)), ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(86_400)),
            ("Mon, 23 Nov 2026 15:00:00 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 GMT", nil),
            ("Mon, 31 Nov 2026 15:00:10 GMT", nil), ("Mon, 23 Nov 2026 25:00:10 GMT", nil),
            ("Mon, 23 nov 2026 15:00:10 GMT", nil), ("Mon, 23 Nov 2026 15:00:10 CET", nil),
            ("Monday, 23-Nov-26 15:00:10 GMT", nil), ("Mon, 23 Nov 2026 15:00:10", nil), ("soon", nil),
            ("Mon, 99999999999999999999 Nov 2026 15:00:10 GMT", nil),
        ] as [(String, Duration?)]
    )
    func `is read as seconds and as a date`(text: String, expected: Duration?) throws {
        let now = try #require(Timestamp(rfc3339: "2026-11-23T15:00:00Z"))
        #expect(RetryAfter.wait(text, at: now) == expected)
    }
}
