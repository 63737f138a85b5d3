// SPDX-License-Identifier: Apache-2.0

import Testing
import Verification

/// Tests the providers that a repeated send may use.
@Suite struct RepetitionTests {
    @Test(
        arguments: [
            (["a"], [], ["b", "c"]), (["a"], ["a"], ["b", "c", "a"]), (["b", "a"], [], ["c"]),
            (["b", "a"], ["a", "b"], ["c", "a"]), (["a", "b", "c"], [], []), (["gone"], ["gone"], ["a", "b", "c"]),
            (nil, [], []), (nil, ["b"], ["b"]), ([], ["c"], ["c"]),
        ] as [(tried: [String]?, idempotent: Set<String>, order: [String])]
    )
    func `another provider than those that refused it or may have it, unless that one takes a key`(
        tried: [String]?,
        idempotent: Set<String>,
        order: [String]
    ) {
        let repetition = Repetition(reason: .timeout, triedProviders: tried)
        #expect(repetition.order(["a", "b", "c"], idempotent: idempotent) == order)
    }
}
