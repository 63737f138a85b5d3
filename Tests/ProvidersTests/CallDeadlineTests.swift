// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Providers

@Suite struct CallDeadlineTests {
    @Test func `a deadline that is noticed late, as after a freeze, leaves time to read what came`() async {
        let late = await ContinuousClock().measure { await CallDeadline.wait(until: .now - .seconds(2)) }
        #expect(late >= .milliseconds(500))
    }

    @Test func `a deadline that is noticed in time is not put off`() async {
        let start = ContinuousClock.now
        await CallDeadline.wait(until: start)
        // Far below the half second of a freeze, on a busy machine, too.
        #expect(ContinuousClock.now - start < .milliseconds(500))
    }

    @Test func `a cancelled wait ends at once`() async {
        let wait = Task { await CallDeadline.wait(until: .now + .seconds(3600)) }
        wait.cancel()
        await wait.value
    }
}
