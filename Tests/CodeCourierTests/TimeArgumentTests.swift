// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@testable import CodeCourier

@Suite("Times on the command line")
struct TimeArgumentTests {
    @Test(arguments: [
        ("now", TimeArgument.now), ("beginning", .beginning), ("7d", .ago(.seconds(604_800))), ("0d", .ago(.zero)),
        ("12h", .ago(.seconds(43_200))), ("90s", .ago(.seconds(90))), ("2026-11-20T12:00:00Z", .at(.test)),
        ("2026-11-20", .at(.test - .seconds(43_200))),
    ])
    func `a time is read`(text: String, expected: TimeArgument) {
        #expect(TimeArgument(argument: text) == expected)
    }

    @Test(arguments: ["", "d", "-1d", "+1d", "99999d", "1 d", "yesterday", "2026-13-01", "2026-11-20T12:00:00"])
    func `anything else is not`(text: String) {
        #expect(TimeArgument(argument: text) == nil)
    }
}
