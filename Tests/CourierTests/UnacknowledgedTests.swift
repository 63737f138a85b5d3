// SPDX-License-Identifier: Apache-2.0

import Testing
import Verification

@testable import Courier

@Suite(.timeLimit(.minutes(1))) struct UnacknowledgedTests {
    private static let later = ContinuousClock.now + .seconds(3600)

    private func record(_ stream: UInt128, _ sequence: Int32, bytes: Int = 0) -> OutboxRecord {
        OutboxRecord(
            stream: UUIDValue(stream),
            sequence: sequence,
            isDeadLetter: false,
            key: nil,
            value: [UInt8](repeating: 0, count: bytes),
            headers: []
        )
    }

    @Test func `of each stream one record goes at a time, and the next when the broker has it`() {
        let unacknowledged = Unacknowledged(limit: 100)
        let run = (Int32(1)...3).map { record(1, $0) }
        let other = record(2, 7)
        let first = unacknowledged.begin([run[0], other, run[1], run[2]], by: .takenOver, until: Self.later)
        #expect(first == [run[0], other])
        #expect(unacknowledged.count == 4)
        #expect(unacknowledged.end(run[0], isDelivered: true, goesOn: true).next == run[1])
        #expect(unacknowledged.end(other, isDelivered: true, goesOn: true).next == nil)
        #expect(unacknowledged.contains(run[0].stream) && !unacknowledged.contains(other.stream))
        #expect(unacknowledged.end(run[1], isDelivered: true, goesOn: true).next == run[2])
        #expect(unacknowledged.end(run[2], isDelivered: true, goesOn: true).next == nil)
        #expect(unacknowledged.count == 0)
    }

    @Test func `what is taken over again goes when the broker does not take it, and what follows when it does`() {
        for isDelivered in [true, false] {
            let unacknowledged = Unacknowledged(limit: 4)
            let run = (Int32(1)...3).map { record(1, $0) }
            #expect(unacknowledged.begin([run[0]], by: .handedOver, until: Self.later) == [run[0]])
            for _ in 0..<2 { #expect(unacknowledged.begin(run, by: .takenOver, until: Self.later).isEmpty) }
            #expect(unacknowledged.hasRoom(for: .takenOver), "the last look counts, and no other")
            let next = unacknowledged.end(run[0], isDelivered: isDelivered, goesOn: true).next
            #expect(next == (isDelivered ? run[1] : run[0]))
            if !isDelivered { #expect(unacknowledged.end(run[0], isDelivered: true, goesOn: true).next == run[1]) }
            #expect(unacknowledged.end(run[1], isDelivered: true, goesOn: true).next == run[2])
            #expect(unacknowledged.end(run[2], isDelivered: true, goesOn: true).next == nil)
            #expect(unacknowledged.count == 0 && unacknowledged.hasRoom(for: .takenOver))
        }
    }

    @Test func `what follows too late goes as what was taken over again`() {
        let unacknowledged = Unacknowledged(limit: 100)
        let run = (Int32(1)...3).map { record(1, $0) }
        #expect(unacknowledged.begin(run, by: .takenOver, until: .now) == [run[0]])
        #expect(unacknowledged.begin(run, by: .takenOver, until: Self.later).isEmpty)
        #expect(unacknowledged.end(run[0], isDelivered: true, goesOn: true).next == run[1])
        #expect(unacknowledged.end(run[1], isDelivered: true, goesOn: true).next == run[2])
    }

    @Test func `a record that comes twice at once goes once`() {
        let unacknowledged = Unacknowledged(limit: 100)
        let run = (Int32(1)...2).map { record(1, $0) }
        #expect(unacknowledged.begin([run[0], run[0], run[1], run[1]], by: .takenOver, until: Self.later) == [run[0]])
        #expect(unacknowledged.end(run[0], isDelivered: true, goesOn: true).next == run[1])
        #expect(unacknowledged.end(run[1], isDelivered: true, goesOn: true).next == nil)
    }

    @Test func `what is taken over while an earlier record of its stream is with the broker is left in the table`() {
        let unacknowledged = Unacknowledged(limit: 100)
        let run = (Int32(1)...2).map { record(1, $0) }
        #expect(unacknowledged.begin([run[0]], by: .handedOver, until: Self.later) == [run[0]])
        #expect(unacknowledged.begin([run[1]], by: .handedOver, until: Self.later).isEmpty)
        #expect(unacknowledged.end(run[0], isDelivered: true, goesOn: true).next == nil)
        #expect(unacknowledged.begin([run[1]], by: .takenOver, until: Self.later) == [run[1]])
    }

    @Test func `who stops gives the broker nothing more`() {
        let unacknowledged = Unacknowledged(limit: 4)
        let run = (Int32(1)...4).map { record(1, $0) }
        _ = unacknowledged.begin(run, by: .takenOver, until: Self.later)
        #expect(unacknowledged.end(run[0], isDelivered: true, goesOn: false).next == nil)
        #expect(unacknowledged.count == 0 && unacknowledged.hasRoom(for: .takenOver))
    }

    @Test func `behind a record that the broker does not take, or too late, nothing follows`() {
        let unacknowledged = Unacknowledged(limit: 4)
        for (isDelivered, end) in [(false, Self.later), (true, ContinuousClock.now)] {
            let run = (Int32(1)...4).map { record(1, $0) }
            #expect(unacknowledged.begin(run, by: .takenOver, until: end) == [run[0]])
            #expect(!unacknowledged.hasRoom(for: .takenOver) && unacknowledged.hasRoom(for: .handedOver))
            #expect(unacknowledged.end(run[0], isDelivered: isDelivered, goesOn: true).next == nil)
            #expect(unacknowledged.count == 0 && unacknowledged.hasRoom(for: .takenOver))
        }
    }

    @Test
    func `what the broker does not answer for within half a second keeps no room from others, up to four times it`() {
        let unacknowledged = Unacknowledged(limit: 10)
        let now = ContinuousClock.now
        func begin(_ streams: ClosedRange<UInt128>, at time: ContinuousClock.Instant) {
            for stream in streams {
                _ = unacknowledged.begin([record(stream, 1)], by: .handedOver, until: Self.later, now: time)
            }
        }
        for round in 0..<3 {
            let time = now + .seconds(round)
            #expect(unacknowledged.hasRoom(for: .handedOver, now: time))
            begin(UInt128(round * 10 + 1)...UInt128(round * 10 + 10), at: time)
            #expect(!unacknowledged.hasRoom(for: .handedOver, now: time))
            #expect(!unacknowledged.hasRoom(for: .handedOver, now: time + .milliseconds(300)))
        }
        #expect(unacknowledged.hasRoom(for: .handedOver, now: now + .seconds(3)))
        begin(31...40, at: now + .seconds(3))
        #expect(!unacknowledged.hasRoom(for: .handedOver, now: now + .seconds(60)))
        for stream in UInt128(1)...40 { _ = unacknowledged.end(record(stream, 1), isDelivered: true, goesOn: true) }
        #expect(unacknowledged.count == 0 && unacknowledged.hasRoom(for: .handedOver, now: now + .seconds(60)))
    }

    @Test func `there is room below a weight, which large records reach soon`() async {
        let unacknowledged = Unacknowledged(limit: 10)
        let (large, small) = (record(1, 1, bytes: 10 * 1024), record(2, 1))
        _ = unacknowledged.begin([small], by: .handedOver, until: Self.later)
        await unacknowledged.waitForRoom()
        _ = unacknowledged.begin([large], by: .handedOver, until: Self.later)
        #expect(!unacknowledged.hasRoom(for: .handedOver))
        async let hasRoom: Void = unacknowledged.waitForRoom()
        _ = unacknowledged.end(large, isDelivered: true, goesOn: true)
        await hasRoom
        async let isEmpty: Void = unacknowledged.waitForAll()
        _ = unacknowledged.end(small, isDelivered: true, goesOn: true)
        await isEmpty
        #expect(unacknowledged.count == 0)
    }
}
