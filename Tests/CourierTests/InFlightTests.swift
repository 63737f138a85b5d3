// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import Courier

@Suite struct InFlightTests {
    /// Starts a waiter for `wanted` permits while none is free, and returns once the waiter has its first permit.
    private func wait(for wanted: Int, _ inFlight: InFlight) async throws -> Task<Bool, Never> {
        let waiting = Task { await inFlight.waitForRoom(wanted) }
        inFlight.remove(1)
        do {
            try await eventually("the waiter has a place") {
                guard inFlight.reserve(upTo: 1, for: .takeover) == 1 else { return true }
                inFlight.claim(0, of: 1, for: .takeover)
                return false
            }
        } catch {
            waiting.cancel()
            throw error
        }
        return waiting
    }

    /// Uses all permits that a takeover can reserve, and returns their number.
    private func takeAll(_ inFlight: InFlight, for claimant: InFlight.Claimant = .takeover) -> Int {
        let reserved = inFlight.reserve(upTo: 10, for: claimant)
        inFlight.claim(reserved, of: reserved, for: claimant)
        return reserved
    }

    @Test func `places are reserved up to the limit, and never more than there are`() {
        let inFlight = InFlight(limit: 3)
        inFlight.add(1)
        #expect(inFlight.reserve(upTo: 1, for: .takeover) == 1)
        #expect(inFlight.reserve(upTo: 5, for: .takeover) == 1)
        #expect(inFlight.reserve(upTo: 5, for: .takeover) == 0)
        #expect(inFlight.count == 1, "reserved places hold no sends")
        inFlight.claim(1, of: 2, for: .takeover)
        #expect(inFlight.count == 2)
        inFlight.add(2)
        #expect(inFlight.reserve(upTo: 1, for: .takeover) == 0)
        inFlight.remove(4)
        #expect(inFlight.reserve(upTo: 5, for: .takeover) == 3)
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
        #expect(inFlight.reserve(upTo: 4, for: .takeover) == 0)
        inFlight.claim(0, of: 3)
        #expect(inFlight.reserve(upTo: 4, for: .takeover) == 3)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a waiter keeps the places that it gets one by one, whoever else looks for some`() async throws {
        let inFlight = InFlight(limit: 10)
        inFlight.add(10)
        let waiting = try await wait(for: 6, inFlight)
        for _ in 0..<5 {
            inFlight.remove(1)
            #expect(inFlight.reserve(upTo: 10, for: .takeover) == 0)
        }
        #expect(try await waiting.valueUnlessCancelled)
        inFlight.claim(0, of: 6)
        #expect(inFlight.reserve(upTo: 10, for: .takeover) == 6, "nobody waits any more")
    }

    @Test(.timeLimit(.minutes(1)))
    func `what comes free goes by turns to who waits and to who uses all that it gets`() async throws {
        let inFlight = InFlight(limit: 10)
        inFlight.add(10)
        let waiting = try await wait(for: 6, inFlight)
        #expect(takeAll(inFlight) == 0)
        var taken = 0
        for _ in 0..<10 {
            inFlight.remove(1)
            taken += takeAll(inFlight)
        }
        #expect(try await waiting.valueUnlessCancelled)
        #expect(taken == 5)
        #expect(inFlight.count == 4)
    }

    @Test(.timeLimit(.minutes(1)))
    func `who did not use what was left to it leaves all to the waiter until it looks again`() async throws {
        let inFlight = InFlight(limit: 10)
        inFlight.add(10)
        let waiting = try await wait(for: 6, inFlight)
        #expect(takeAll(inFlight) == 0)
        inFlight.remove(3)
        #expect(inFlight.reserve(upTo: 10, for: .takeover) == 3)
        inFlight.claim(1, of: 3, for: .takeover)
        inFlight.remove(3)
        #expect(try await waiting.valueUnlessCancelled, "it has the two that were not used")
        #expect(inFlight.reserve(upTo: 10, for: .takeover) == 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func `who had no place is left enough to see whether it needs any, and no more`() async throws {
        let inFlight = InFlight(limit: 100)
        inFlight.add(100)
        let waiting = try await wait(for: 90, inFlight)
        #expect(takeAll(inFlight) == 0)
        for _ in 0..<49 { inFlight.remove(2) }
        #expect(try await waiting.valueUnlessCancelled)
        #expect(inFlight.reserve(upTo: 100, for: .takeover) == 9)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a takeover that used all it got and stays away does not stop who waits`() async {
        let inFlight = InFlight(limit: 100)
        #expect(inFlight.reserve(upTo: 50, for: .takeover) == 50)
        inFlight.claim(50, of: 50, for: .takeover)
        inFlight.remove(50)
        for _ in 0..<10 {
            #expect(await inFlight.waitForRoom(20))
            inFlight.claim(0, of: 20)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `nobody waits for room any more once that is told, and gives back what it got`() async {
        let inFlight = InFlight(limit: 10)
        inFlight.add(10)
        async let hasRoom = inFlight.waitForRoom(6)
        inFlight.remove(1)
        inFlight.stopWaiting()
        #expect(await !hasRoom)
        inFlight.remove(9)
        #expect(await !inFlight.waitForRoom(1), "however much there is")
        #expect(inFlight.reserve(upTo: 10, for: .takeover) == 10)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a takeover and records that waited share what is left to them`() async throws {
        let inFlight = InFlight(limit: 10)
        inFlight.add(10)
        let waiting = try await wait(for: 6, inFlight)
        #expect(takeAll(inFlight, for: .takeover) == 0)
        #expect(takeAll(inFlight, for: .waitingRecords) == 0)
        inFlight.remove(4)
        #expect(inFlight.reserve(upTo: 10, for: .takeover) == 2)
        #expect(inFlight.reserve(upTo: 10, for: .waitingRecords) == 2)
        waiting.cancel()
        #expect(try await !waiting.valueUnlessCancelled)
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
                    let reserved = inFlight.reserve(upTo: 50, for: .takeover)
                    await Task.yield()
                    inFlight.claim(reserved, of: reserved, for: .takeover)
                    #expect(inFlight.count <= 100)
                    inFlight.remove(reserved)
                }
                // Clears the takeover's demand, so that no share of the free permits is kept for it.
                #expect(inFlight.reserve(upTo: 0, for: .takeover) == 0)
            }
        }
        #expect(inFlight.count == 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a waiter that is cancelled goes on without room, and gives back what it had of it`() async throws {
        let inFlight = InFlight(limit: 3)
        inFlight.add(3)
        let waiting = try await wait(for: 2, inFlight)
        waiting.cancel()
        #expect(try await !waiting.valueUnlessCancelled)
        #expect(inFlight.count == 2)
        #expect(inFlight.reserve(upTo: 3, for: .takeover) == 1)
    }
}
