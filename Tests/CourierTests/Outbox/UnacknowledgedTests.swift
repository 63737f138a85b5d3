// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
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

    /// Begins records for one destination, and returns those to send to the broker.
    private func begin(
        _ unacknowledged: Unacknowledged,
        _ records: [OutboxRecord],
        until end: ContinuousClock.Instant = Self.later
    ) -> [OutboxRecord] {
        unacknowledged.begin(records, to: { _ in Destination(topic: "t") }, until: end).first
    }

    /// Returns true when the destination accepts a record of another stream.
    private func hasRoom(_ unacknowledged: Unacknowledged) -> Bool {
        let record = record(.max, 1)
        guard !begin(unacknowledged, [record]).isEmpty else { return false }
        _ = unacknowledged.end(record, .refused, continues: false)
        return true
    }

    @Test func `of each stream one record goes at a time, and the next when the broker has it`() {
        let unacknowledged = Unacknowledged(limit: 100)
        let run = (Int32(1)...3).map { record(1, $0) }
        let other = record(2, 7)
        let first = begin(unacknowledged, [run[0], other, run[1], run[2]])
        #expect(first == [run[0], other])
        #expect(unacknowledged.end(run[0], .delivered, continues: true).next == run[1])
        #expect(unacknowledged.end(other, .delivered, continues: true).next == nil)
        #expect(unacknowledged.contains(run[0].stream) && !unacknowledged.contains(other.stream))
        #expect(unacknowledged.end(run[1], .delivered, continues: true).next == run[2])
        #expect(unacknowledged.end(run[2], .delivered, continues: true).next == nil)
        #expect(!unacknowledged.contains(run[0].stream))
    }

    @Test func `what is taken over again goes when the broker does not take it, and what follows when it does`() {
        for isDelivered in [true, false] {
            let unacknowledged = Unacknowledged(limit: 5)
            let run = (Int32(1)...3).map { record(1, $0) }
            #expect(begin(unacknowledged, [run[0]]) == [run[0]])
            for _ in 0..<2 { #expect(begin(unacknowledged, run).isEmpty) }
            #expect(hasRoom(unacknowledged), "the last look counts, and no other")
            let next = unacknowledged.end(run[0], isDelivered ? .delivered : .refused, continues: true).next
            #expect(next == (isDelivered ? run[1] : run[0]))
            if !isDelivered { #expect(unacknowledged.end(run[0], .delivered, continues: true).next == run[1]) }
            #expect(unacknowledged.end(run[1], .delivered, continues: true).next == run[2])
            #expect(unacknowledged.end(run[2], .delivered, continues: true).next == nil)
            #expect(!unacknowledged.contains(run[0].stream) && hasRoom(unacknowledged))
        }
    }

    @Test func `what follows too late goes as what was taken over again`() {
        let unacknowledged = Unacknowledged(limit: 100)
        let run = (Int32(1)...3).map { record(1, $0) }
        #expect(begin(unacknowledged, run, until: .now) == [run[0]])
        #expect(begin(unacknowledged, run).isEmpty)
        #expect(unacknowledged.end(run[0], .delivered, continues: true).next == run[1])
        #expect(unacknowledged.end(run[1], .delivered, continues: true).next == run[2])
    }

    @Test func `a record that comes twice at once goes once`() {
        let unacknowledged = Unacknowledged(limit: 100)
        let run = (Int32(1)...2).map { record(1, $0) }
        #expect(begin(unacknowledged, [run[0], run[0], run[1], run[1]]) == [run[0]])
        #expect(unacknowledged.end(run[0], .delivered, continues: true).next == run[1])
        #expect(unacknowledged.end(run[1], .delivered, continues: true).next == nil)
    }

    @Test func `what is taken over while an earlier record of its stream is with the broker is left in the table`() {
        let unacknowledged = Unacknowledged(limit: 100)
        let run = (Int32(1)...2).map { record(1, $0) }
        #expect(begin(unacknowledged, [run[0]]) == [run[0]])
        #expect(begin(unacknowledged, [run[1]]).isEmpty)
        #expect(unacknowledged.end(run[0], .delivered, continues: true).next == nil)
        #expect(begin(unacknowledged, [run[1]]) == [run[1]])
    }

    @Test func `who stops gives the broker nothing more`() {
        let unacknowledged = Unacknowledged(limit: 4)
        let run = (Int32(1)...4).map { record(1, $0) }
        _ = begin(unacknowledged, run)
        #expect(unacknowledged.end(run[0], .delivered, continues: false).next == nil)
        #expect(!unacknowledged.contains(run[0].stream) && hasRoom(unacknowledged))
    }

    @Test func `behind a record that the broker does not take, or too late, nothing follows`() {
        let unacknowledged = Unacknowledged(limit: 4)
        for (isDelivered, end) in [(false, Self.later), (true, ContinuousClock.now)] {
            let run = (Int32(1)...4).map { record(1, $0) }
            #expect(begin(unacknowledged, run, until: end) == [run[0]])
            #expect(!hasRoom(unacknowledged))
            #expect(unacknowledged.end(run[0], isDelivered ? .delivered : .refused, continues: true).next == nil)
            #expect(!unacknowledged.contains(run[0].stream) && hasRoom(unacknowledged))
        }
    }

    @Test func `there is room below a weight, which large records reach soon`() async {
        let unacknowledged = Unacknowledged(limit: 10)
        let (large, small) = (record(1, 1, bytes: 10 * 1024), record(2, 1))
        #expect(begin(unacknowledged, [small, large]) == [small, large])
        #expect(!hasRoom(unacknowledged))
        _ = unacknowledged.end(large, .delivered, continues: true)
        #expect(hasRoom(unacknowledged))
        async let isEmpty: Void = unacknowledged.waitForAll()
        _ = unacknowledged.end(small, .delivered, continues: true)
        await isEmpty
    }
}

/// Tests destinations that accept no records, beside others that do.
@Suite struct StuckDestinationTests {
    private static let later = ContinuousClock.now + .seconds(3600)
    private let start = ContinuousClock.now

    /// An event of a stream; streams 0 to 999 share a partition, 1000 to 1999 the next, and so on.
    private func event(_ stream: UInt128, _ sequence: Int32 = 1) -> OutboxRecord {
        OutboxRecord(
            stream: UUIDValue(stream),
            sequence: sequence,
            isDeadLetter: false,
            key: [UInt8(stream / 1000)],
            value: [],
            headers: []
        )
    }

    private func events(_ streams: ClosedRange<UInt128>) -> [OutboxRecord] { streams.map { event($0) } }

    private func begin(
        _ unacknowledged: Unacknowledged,
        _ records: [OutboxRecord],
        after time: Duration = .zero
    ) -> Unacknowledged.Beginning {
        unacknowledged.begin(
            records,
            to: { Destination(topic: "t", partition: $0.key.map { Int32($0[0]) }) },
            until: Self.later,
            now: start + time
        )
    }

    @Test func `what one destination has no room for is left in the table, and others have theirs`() {
        let unacknowledged = Unacknowledged(limit: 10)
        let stuck = begin(unacknowledged, events(1001...1030))
        #expect(stuck.first == events(1001...1010))
        #expect(stuck.left.map(\.record) == events(1011...1030))
        #expect(begin(unacknowledged, events(2001...2010)).first.count == 10)
        #expect(begin(unacknowledged, events(3001...3010)).first.count == 10)
        #expect(begin(unacknowledged, events(4001...4010)).first.count == 10)
        #expect(begin(unacknowledged, events(5001...5010)).first.isEmpty, "memory is bounded")
    }

    @Test func `of a stream whose first record is left nothing goes, and of one under way the next does`() {
        let unacknowledged = Unacknowledged(limit: 1)
        #expect(
            begin(unacknowledged, [event(1001), event(1002), event(1001, 2), event(1002, 2)]).first == [event(1001)]
        )
        let next = unacknowledged.end(event(1001), .delivered, continues: true, now: start).next
        #expect(next == event(1001, 2))
    }

    @Test func `a destination without answers for two seconds takes nothing more, and others do`() {
        let unacknowledged = Unacknowledged(limit: 100)
        #expect(begin(unacknowledged, events(1001...1003) + events(2001...2001)).first.count == 4)
        _ = unacknowledged.end(event(2001), .delivered, continues: true, now: start)
        #expect(begin(unacknowledged, events(1004...1004), after: .seconds(2)).first.count == 1)
        let beginning = begin(unacknowledged, events(1005...1005) + events(2005...2005), after: .seconds(3))
        #expect(beginning.first == events(2005...2005))
        #expect(beginning.left.map(\.record) == events(1005...1005))
        _ = unacknowledged.end(event(1001), .delivered, continues: true, now: start + .seconds(4))
        #expect(begin(unacknowledged, events(1005...1005), after: .seconds(4)).first.count == 1)
    }

    @Test func `after a failure one record at a time goes as a probe, until one is delivered`() {
        let unacknowledged = Unacknowledged(limit: 100)
        func end(_ stream: UInt128, _ outcome: Unacknowledged.Outcome, after time: Duration) {
            _ = unacknowledged.end(event(stream), outcome, continues: true, now: start + time)
        }
        _ = begin(unacknowledged, events(1001...1002))
        end(1001, .failed, after: .seconds(30))
        #expect(begin(unacknowledged, events(1003...1003), after: .seconds(33)).first.isEmpty, "one is there")
        end(1002, .failed, after: .seconds(30))
        #expect(begin(unacknowledged, events(1003...1003), after: .seconds(31)).first.isEmpty)
        let probes = begin(unacknowledged, events(1002...1005), after: .seconds(32))
        #expect(probes.first == [event(1003)], "the one that failed last lets others go first")
        #expect(probes.left.count == 3)
        #expect(begin(unacknowledged, events(1006...1009), after: .seconds(34)).first.isEmpty)
        end(1003, .failed, after: .seconds(62))
        #expect(
            begin(unacknowledged, events(1003...1003), after: .seconds(66)).first == [event(1003)],
            "for want of others"
        )
        end(1003, .delivered, after: .seconds(67))
        #expect(begin(unacknowledged, events(1004...1009), after: .seconds(67)).first.count == 6)
    }

    @Test func `a failure is forgotten when nothing was tried for a minute`() {
        let unacknowledged = Unacknowledged(limit: 100)
        _ = begin(unacknowledged, events(1001...1001))
        _ = unacknowledged.end(event(1001), .failed, continues: true, now: start)
        #expect(unacknowledged.isSilent(now: start + .seconds(59)))
        #expect(!unacknowledged.isSilent(now: start + .seconds(60)))
        #expect(begin(unacknowledged, events(1002...1009), after: .seconds(60)).first.count == 8)
    }

    @Test func `a record that is refused alone makes no destination stuck`() {
        let unacknowledged = Unacknowledged(limit: 100)
        _ = begin(unacknowledged, events(1001...1001))
        let continuation = unacknowledged.end(event(1001), .refused, continues: true, now: start)
        #expect(continuation.left?.record == event(1001) && continuation.next == nil)
        #expect(begin(unacknowledged, events(1002...1003)).first.count == 2)
    }

    @Test func `what is left comes again after a pause that grows, and at once when there is room`() {
        let unacknowledged = Unacknowledged(limit: 100)
        _ = begin(unacknowledged, events(1001...1001))
        let pauses = [3, 10, 20, 60, 600].map { seconds in
            let left = begin(unacknowledged, events(1002...1031), after: .seconds(seconds)).left
            unacknowledged.leave(left)
            return left.first?.pause
        }
        #expect(pauses == [2, 4, 8, 16, 16].map { .seconds($0) })
        #expect(unacknowledged.recall(20, now: start + .seconds(600)).isEmpty)
        _ = unacknowledged.end(event(1001), .delivered, continues: true, now: start + .seconds(601))
        let recalled = [20, 20, 20].map { unacknowledged.recall($0, now: start + .seconds(601)) }
        #expect(recalled.map(\.count) == [20, 10, 0])
        #expect(Set(recalled.joined()) == Set(events(1002...1031).map(\.stream)))
    }

    @Test func `what is left for want of room is recalled when half of it is free`() {
        let unacknowledged = Unacknowledged(limit: 10)
        unacknowledged.leave(begin(unacknowledged, events(1001...1011)).left)
        for stream in UInt128(1001)...1005 {
            #expect(unacknowledged.recall(9, now: start).isEmpty)
            _ = unacknowledged.end(event(stream), .delivered, continues: true, now: start)
        }
        _ = unacknowledged.end(event(1006), .delivered, continues: true, now: start)
        #expect(unacknowledged.recall(9, now: start) == [event(1011).stream])
    }

    @Test func `there is little to gain from the table while a destination is stuck and none takes records`() {
        let unacknowledged = Unacknowledged(limit: 10)
        #expect(!unacknowledged.isSilent(now: start))
        _ = begin(unacknowledged, events(1001...1001) + events(2001...2001))
        #expect(!unacknowledged.isSilent(now: start + .seconds(1)))
        #expect(unacknowledged.isSilent(now: start + .seconds(3)))
        _ = unacknowledged.end(event(2001), .delivered, continues: true, now: start + .seconds(4))
        #expect(!unacknowledged.isSilent(now: start + .seconds(5)), "another one takes records")
        #expect(unacknowledged.isSilent(now: start + .seconds(7)))
        _ = unacknowledged.end(event(1001), .delivered, continues: true, now: start + .seconds(8))
        #expect(!unacknowledged.isSilent(now: start + .seconds(60)))
    }
}
