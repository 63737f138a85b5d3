// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import Formats

@Suite struct StringBytesTests {
    /// Short texts of few letters, so that many are equal or share a prefix; `é` occurs in both normal forms.
    private static func text(_ dice: inout TestSeed) -> String {
        let letters = ["a", "b", "\u{e9}", "e\u{301}", "\u{0}", "zzzzzzzzzzzzzzzz"]
        return (0..<dice.below(5)).map { _ in letters[dice.below(letters.count)] }.joined()
    }

    @Test func `texts are compared by their bytes`() {
        var dice = TestSeed("texts by their bytes")
        var alike = 0
        for _ in 0..<20_000 {
            let (one, other) = (Self.text(&dice), Self.text(&dice))
            let (bytes, otherBytes) = (Array(one.utf8), Array(other.utf8))
            #expect(one.hasSameBytes(as: other) == (bytes == otherBytes))
            #expect(one.hasBytes(before: other) == bytes.lexicographicallyPrecedes(otherBytes))
            alike += bytes == otherBytes ? 1 : 0
        }
        #expect(alike > 100)
    }
}
