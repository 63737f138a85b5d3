// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Courier

@Suite struct InFlightTests {
    @Test func `places are reserved up to the limit, and never more than there are`() {
        let inFlight = InFlight(limit: 3)
        inFlight.add(1)
        #expect(inFlight.reserve(upTo: 1) == 1)
        #expect(inFlight.reserve(upTo: 5) == 1)
        #expect(inFlight.reserve(upTo: 5) == 0)
        #expect(inFlight.count == 1, "reserved places hold no sends")
        inFlight.claim(1, of: 2)
        #expect(inFlight.count == 2)
        inFlight.add(2)
        #expect(inFlight.reserve(upTo: 1) == 0)
        inFlight.remove(4)
        #expect(inFlight.reserve(upTo: 5) == 3)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a waiter goes on when there is room, and has it reserved`() async {
        let inFlight = InFlight(limit: 4)
        inFlight.add(4)
        async let hasRoom = inFlight.waitForRoom(3)
        inFlight.remove(1)
        inFlight.remove(1)
        inFlight.remove(1)
        #expect(await hasRoom)
        #expect(inFlight.reserve(upTo: 1) == 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func `who waits for much and who takes every place that is free have their turns`() async {
        let inFlight = InFlight(limit: 10, turn: .seconds(3600))
        inFlight.add(10)
        let waiting = Task { await inFlight.waitForRoom(6) }
        var taken = 0
        // Until the waiter has begun to wait it takes all; then once more, and then what is beyond.
        for _ in 0..<1_000_000 {
            inFlight.remove(1)
            let reserved = inFlight.reserve(upTo: 10)
            inFlight.claim(reserved, of: reserved)
            taken = reserved
            if reserved == 0 { break }
            await Task.yield()
        }
        #expect(taken == 0, "a place that is free is left to the waiter")
        for _ in 0..<5 {
            inFlight.remove(1)
            #expect(inFlight.reserve(upTo: 10) == 0)
        }
        #expect(await waiting.value)
        inFlight.claim(0, of: 6)
        #expect(inFlight.reserve(upTo: 10) == 6, "nobody waits any more")
    }

    @Test(.timeLimit(.minutes(1)))
    func `a turn ends, and who takes nothing has had none`() async {
        for (turn, claimed) in [(Duration.zero, 1), (.seconds(3600), 0)] {
            let inFlight = InFlight(limit: 10, turn: turn)
            inFlight.add(8)
            let waiting = Task { await inFlight.waitForRoom(6) }
            for _ in 0..<100 {
                let reserved = inFlight.reserve(upTo: 1)
                #expect(reserved == 1, "what is free is of use while much is held")
                inFlight.claim(claimed, of: reserved)
                inFlight.remove(claimed)
                await Task.yield()
            }
            waiting.cancel()
            #expect(await !waiting.value)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `who waits for room and who takes what is free never have more than the limit`() async {
        let inFlight = InFlight(limit: 100)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<2000 {
                    #expect(await inFlight.waitForRoom(60))
                    inFlight.claim(50, of: 60)
                    #expect(inFlight.count <= 100)
                    inFlight.remove(50)
                }
            }
            group.addTask {
                for _ in 0..<2000 {
                    let reserved = inFlight.reserve(upTo: 50)
                    await Task.yield()
                    inFlight.claim(reserved, of: reserved)
                    #expect(inFlight.count <= 100)
                    inFlight.remove(reserved)
                }
            }
        }
        #expect(inFlight.count == 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a waiter that is cancelled goes on without room`() async {
        let inFlight = InFlight(limit: 1)
        inFlight.add(1)
        let waiting = Task { await inFlight.waitForRoom(1) }
        waiting.cancel()
        #expect(await !waiting.value)
        #expect(inFlight.count == 1)
    }
}
