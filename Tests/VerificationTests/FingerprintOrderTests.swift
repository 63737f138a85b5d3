// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

@Suite struct FingerprintOrderTests {
    @Test func `windows and slots are ordered by the bytes of their fingerprints, as the database orders them`() {
        var random = TestSeed("fingerprints")
        var fingerprints: [[UInt8]] = [[], [0], [0, 0], [255], Array(repeating: 0, count: 9)]
        for _ in 0..<300 {
            // Few bytes and few of their values, so that many begin alike.
            fingerprints.append((0..<random.below(12)).map { _ in random.pick([0, 1, 127, 128, 255]) })
        }
        for one in fingerprints {
            for other in fingerprints {
                let isBefore = one.lexicographicallyPrecedes(other)
                #expect((Self.window(one) < Self.window(other)) == isBefore)
                #expect((Self.slot(one) < Self.slot(other)) == isBefore)
                #expect((Self.window(one) == Self.window(other)) == (one == other))
            }
        }
        #expect(Set(fingerprints.map(Self.window)).count == Set(fingerprints).count)
        #expect(Set(fingerprints.map(Self.slot)).count == Set(fingerprints).count)
    }

    private static func window(_ fingerprint: [UInt8]) -> LimitKey {
        LimitKey(scope: .recipient, tenant: "t", fingerprint: fingerprint)
    }

    private static func slot(_ fingerprint: [UInt8]) -> SlotKey {
        SlotKey(tenant: "t", purpose: .signIn, fingerprint: fingerprint)
    }
}
