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

    @Test func `joined fields are their lengths and bytes, whatever holds them`() {
        var dice = TestSeed("joined fields")
        for _ in 0..<2000 {
            var joiner = FieldJoiner()
            var expected: [UInt8] = []
            func expect(_ bytes: [UInt8]) {
                expected += [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
            }
            // Up to 256 bytes lie in the joiner itself, more in an array.
            for _ in 0..<dice.below(12) {
                let text = Self.text(&dice)
                let id = UUIDValue(UInt128(dice.next()) << 64 | UInt128(dice.next()))
                switch dice.below(5) {
                case 0:
                    joiner.append(text)
                    expect(Array(text.utf8))
                case 1:
                    joiner.append(Array(text.utf8))
                    expect(Array(text.utf8))
                case 2:
                    joiner.append(id)
                    expect(id.bytes)
                case 3:
                    joiner.append(UInt32(text.utf8.count))
                    expect([0, 0, 0, UInt8(text.utf8.count)])
                default:
                    joiner.append(String?.none)
                    expect([])
                }
            }
            #expect(joiner.bytes == expected)
        }
    }

    @Test func `a duration's microseconds are rounded towards zero and saturate`() {
        #expect(Duration.seconds(90).microseconds == 90_000_000)
        #expect(Duration.nanoseconds(1999).microseconds == 1)
        #expect(Duration.nanoseconds(-1999).microseconds == -1)
        #expect(Duration.seconds(Int64.max / 2).microseconds == .max)
        #expect(Duration.seconds(Int64.min / 2).microseconds == .min)
        #expect(Timestamp(microseconds: -5) - .seconds(Int64.max / 2) == Timestamp(microseconds: .min))
        #expect(Timestamp(microseconds: 5) - .seconds(Int64.min / 2) == Timestamp(microseconds: .max))
    }
}
