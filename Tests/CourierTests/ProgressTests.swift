// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Courier

@Suite struct ProgressTests {
    @Test func `an operation gets on with each answer to it, and with no other's`() async {
        let progress = Progress()
        await progress.during(.record) {
            let before = progress.atWork[.record] ?? 0
            await progress.running(.record) { for _ in 0..<2 { Progress.advanceCurrent() } }
            #expect(progress.atWork[.record] == before + 3)
            Progress.advanceCurrent()
            #expect(progress.atWork[.record] == before + 3)
        }
    }
}
