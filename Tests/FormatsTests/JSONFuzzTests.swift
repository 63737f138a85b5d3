// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools
import Testing

@testable import Formats

@Suite struct JSONFuzzTests {
    static let seeds = [
        #"{"a":[1,-2.5e3,true],"b":"x\u00e9\ud83d\ude00","c":{}}"#, #"["\\",{"k":null,"l":0.1}]"#, "123", "\"\\n\"",
        "[[[[]]]]",
    ].map { Array($0.utf8) }

    @Test func `no bytes trap the scanner`() {
        var seed = TestSeed("scanner")
        var accepted = 0
        var faults: Set<JSONFault> = []
        for _ in 0..<50_000 {
            let bytes = seed.mutate(Self.seeds[seed.below(Self.seeds.count)])
            do {
                _ = try JSONScanner.parse(bytes)
                accepted += 1
            } catch {
                faults.insert(error)
            }
        }
        #expect(accepted > 250)
        #expect(faults.isSuperset(of: [.notJSON, .invalidUTF8]))
    }

    @Test func `bytes without any structure do not trap the scanner`() {
        var seed = TestSeed("noise")
        for _ in 0..<5000 {
            let bytes = (0..<seed.below(24)).map { _ in UInt8(truncatingIfNeeded: seed.next()) }
            _ = try? JSONScanner.parse(bytes)
        }
    }

    @Test func `what is written for any text is read as that text`() throws {
        var seed = TestSeed("writer")
        for _ in 0..<2000 {
            let scalars = (0..<seed.below(12)).compactMap { _ in
                Unicode.Scalar(UInt32(seed.below(seed.below(2) == 0 ? 0x90 : 0x3000)))
            }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            var writer = JSONWriter()
            writer.object { $0.member(named: String(text), String(text)) }
            guard case .object(let object) = try JSONScanner.parse(writer.bytes), let member = object.members.first,
                case .string(let value) = member.value
            else {
                Issue.record("no object for \(scalars)")
                return
            }
            #expect(Array(value.unicodeScalars) == scalars && Array(member.name.unicodeScalars) == scalars)
        }
    }
}
