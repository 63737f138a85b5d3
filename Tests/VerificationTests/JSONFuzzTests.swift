// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Verification

/// A repeatable random source, seeded by the environment's `DECODING_SEED` or by a new, printed seed.
struct DecodingSeed: RandomNumberGenerator {
    private var state: UInt64

    init(_ name: String) {
        let given = ProcessInfo.processInfo.environment["DECODING_SEED"].flatMap { UInt64($0) }
        state = given ?? UInt64.random(in: .min ... .max)
        print("\(name): DECODING_SEED=\(state)")
    }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number below a small bound, slightly biased but cheap.
    mutating func below(_ bound: Int) -> Int {
        bound <= 0 ? 0 : Int(next() >> 33) % bound
    }

    /// The bytes after one to three changes: a byte flipped, removed, doubled or replaced, a cut, or a repeated range.
    mutating func mutate(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        for _ in 0...below(3) {
            guard !bytes.isEmpty else { return [UInt8(truncatingIfNeeded: next())] }
            let index = below(bytes.count)
            switch below(8) {
            case 0: bytes[index] ^= 1 << UInt8(below(8))
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            case 3: bytes[index] = UInt8(truncatingIfNeeded: next())
            case 4: bytes.removeSubrange(index...)
            case 5: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 8)], at: below(bytes.count))
            default: bytes[index] = Self.tokens[below(Self.tokens.count)]
            }
        }
        return bytes
    }

    private static let tokens = Array("{}[]:,\"\\/u0123456789-+.eEtrfalsn d8D\u{0}\u{1f}".utf8) + [0xc3, 0xed, 0xff]
}

@Suite struct JSONFuzzTests {
    static let seeds = [
        #"{"a":[1,-2.5e3,true],"b":"x\u00e9\ud83d\ude00","c":{}}"#, #"["\\",{"k":null,"l":0.1}]"#, "123", "\"\\n\"",
        "[[[[]]]]",
    ].map { Array($0.utf8) }

    @Test func `no bytes trap the scanner`() {
        var seed = DecodingSeed("scanner")
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
        var seed = DecodingSeed("noise")
        for _ in 0..<5000 {
            let bytes = (0..<seed.below(24)).map { _ in UInt8(truncatingIfNeeded: seed.next()) }
            _ = try? JSONScanner.parse(bytes)
        }
    }

    @Test func `what is written for any text is read as that text`() throws {
        var seed = DecodingSeed("writer")
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
