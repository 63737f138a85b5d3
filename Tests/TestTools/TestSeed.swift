// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A repeatable random source, seeded by the environment's `COURIER_TEST_SEED` or by a new, printed seed.
package struct TestSeed: RandomNumberGenerator, Sendable {
    /// The value of `COURIER_TEST_SEED` that repeats the sequence.
    package let seed: UInt64
    private var state: UInt64

    /// The seed of a test, printed under its name.
    package init(_ name: String) {
        let given = getenv("COURIER_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
        self.init(seed: given ?? UInt64.random(in: .min ... .max))
        print("\(name): COURIER_TEST_SEED=\(seed)")
    }

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// SplitMix64.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number below a small bound, slightly biased but cheap.
    package mutating func below(_ bound: Int) -> Int {
        bound <= 0 ? 0 : Int(next() >> 33) % bound
    }

    /// Returns true with a probability of `percent` in a hundred.
    package mutating func chance(_ percent: Int) -> Bool {
        below(100) < percent
    }

    package mutating func pick<Value>(_ values: [Value]) -> Value {
        values[below(values.count)]
    }

    /// The bytes after one to three changes: a byte flipped, removed, doubled or replaced, a cut, or a repeated range.
    package mutating func mutate(_ original: [UInt8]) -> [UInt8] {
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
