// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Courier

@Suite struct InFlightTests {
    @Test func `what is held is taken off the limit, and never below zero`() {
        let inFlight = InFlight(limit: 3)
        inFlight.add(2)
        #expect(inFlight.free == 1)
        inFlight.add(2)
        #expect(inFlight.count == 4)
        #expect(inFlight.free == 0)
        inFlight.remove(4)
        #expect(inFlight.free == 3)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a waiter goes on when there is room, and not before`() async {
        let inFlight = InFlight(limit: 4)
        inFlight.add(4)
        async let free = {
            await inFlight.waitForRoom(3)
            return inFlight.free
        }()
        inFlight.remove(1)
        inFlight.remove(1)
        inFlight.remove(1)
        #expect(await free >= 3)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a waiter that is cancelled goes on without room`() async {
        let inFlight = InFlight(limit: 1)
        inFlight.add(1)
        let waiting = Task { await inFlight.waitForRoom(1) }
        waiting.cancel()
        await waiting.value
        #expect(inFlight.free == 0)
    }
}
