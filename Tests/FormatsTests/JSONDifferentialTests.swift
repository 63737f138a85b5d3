// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing

@testable import Formats

/// Checks that Foundation reads the same value from every document that the scanner accepts.
@Suite struct JSONDifferentialTests {
    @Test func `mutated documents that are accepted mean the same to Foundation`() throws {
        var seed = TestSeed("differential")
        var compared = 0
        for _ in 0..<10_000 {
            let bytes = seed.mutate(JSONFuzzTests.seeds[seed.below(JSONFuzzTests.seeds.count)])
            guard let value = try? JSONScanner.parse(bytes) else { continue }
            try compare(value, with: bytes)
            compared += 1
        }
        #expect(compared > 50)
    }

    @Test func `made documents mean the same to Foundation`() throws {
        var seed = TestSeed("documents")
        for _ in 0..<1000 {
            let bytes = Array(document(depth: 4, &seed).utf8)
            try compare(try JSONScanner.parse(bytes), with: bytes)
        }
    }

    private func compare(_ value: JSONValue, with bytes: [UInt8]) throws {
        let other = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        let isSame = same(value, other)
        #expect(isSame, "\(String(decoding: bytes, as: UTF8.self))")
    }

    private func same(_ value: JSONValue, _ other: Any) -> Bool {
        switch value {
        case .null: return other is NSNull
        case .bool(let bool): return (other as? NSNumber)?.boolValue == bool
        case .number(let number):
            guard let foundations = other as? NSNumber else { return false }
            // Foundation stores some integers as decimals, which it converts to a double with an error of one unit.
            if let integer = number.int64 { return foundations.int64Value == integer }
            return foundations.doubleValue == number.double
        case .string(let text):
            guard let string = other as? String else { return false }
            return Array(string.utf8) == Array(text.utf8)
        case .array(let elements):
            guard let array = other as? [Any], array.count == elements.count else { return false }
            return zip(elements, array).allSatisfy { same($0, $1) }
        case .object(let object):
            guard let dictionary = other as? [String: Any] else { return false }
            guard dictionary.count == object.members.count else { return false }
            return object.members.allSatisfy { member in dictionary[member.name].map { same(member.value, $0) } ?? false
            }
        }
    }

    private func document(depth: Int, _ seed: inout TestSeed) -> String {
        switch seed.below(depth > 0 ? 8 : 6) {
        case 0: return "null"
        case 1: return seed.below(2) == 0 ? "true" : "false"
        case 2: return String(Int64(bitPattern: seed.next()) >> Int64(seed.below(63)))
        case 3: return (Double(seed.below(1_000_000)) / 128 - 3000).description
        case 4, 5: return text(&seed)
        case 6:
            let elements = (0..<seed.below(4)).map { _ in document(depth: depth - 1, &seed) }
            return "[ " + elements.joined(separator: " ,\n") + "\t]"
        default:
            let members = (0..<seed.below(4)).map { "\"n\($0)\": " + document(depth: depth - 1, &seed) }
            return "{" + members.joined(separator: ",") + " }"
        }
    }

    private func text(_ seed: inout TestSeed) -> String {
        let pieces = [
            "a", "é", "\\u00e9", "\u{1f600}", "\\ud83d\\ude00", "\\n", "\\\"", "\\\\", "\\/", " ", "\\u0000", "漢",
        ]
        return "\"" + (0..<seed.below(9)).map { _ in pieces[seed.below(pieces.count)] }.joined() + "\""
    }
}
