// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Records of several partitions in order")
struct ReorderBufferTests {
    @Test func `records of several partitions come in the order of their times, those of one in their own`() {
        var seed = TestSeed("reorder buffer")
        var buffer = ReorderBuffer(partitions: 4, latest: .test + .seconds(86_400), capacity: 200)
        var clocks = [0, 0, 0, 0]
        var ordered: [InboundRecord] = []
        for index in 0..<400 {
            let partition = seed.below(4)
            clocks[partition] += seed.below(10) - 2
            let time = Timestamp.test + .seconds(clocks[partition])
            let record = InboundRecord.raw("\(index)", offset: Int64(index), partition: Int32(partition), at: time)
            buffer.insert(record)
            while let earliest = buffer.popOverflow() { ordered.append(earliest) }
        }
        while let record = buffer.popFirst() { ordered.append(record) }
        #expect(ordered.count == 400)
        #expect(buffer.lateCount == 0)
        for partition in Int32(0)..<4 {
            let offsets = ordered.filter { $0.partition == partition }.map(\.offset)
            #expect(offsets == offsets.sorted())
        }
        var newest: [Int32: Timestamp] = [:]
        let arrivals = ordered.map { record in
            newest[record.partition] = max(newest[record.partition] ?? .test, record.timestamp ?? .test)
            return newest[record.partition] ?? .test
        }
        #expect(arrivals == arrivals.sorted())
    }

    @Test func `a buffer that is too small for the order says so`() {
        var buffer = ReorderBuffer(partitions: 4, latest: .test + .seconds(86_400), capacity: 1)
        for (index, second) in [5, 6, 7, 1].enumerated() {
            buffer.insert(.raw("", offset: 0, partition: Int32(index), at: .test + .seconds(second)))
            _ = buffer.popOverflow()
        }
        while buffer.popFirst() != nil {}
        #expect(buffer.lateCount == 1)
    }

    @Test func `large records are held as long as their bytes have room`() {
        var buffer = ReorderBuffer(partitions: 2, latest: .test, maximumBytes: 3000)
        for index in 0..<4 {
            buffer.insert(.raw(String(repeating: "a", count: 1000), offset: Int64(index), at: .test))
            #expect((buffer.popOverflow() != nil) == (index == 3))
        }
        // A record as large as the whole limit leaves no room for other records.
        buffer.insert(.raw(String(repeating: "a", count: 3000), offset: 4, at: .test))
        for offset in Int64(1)...3 { #expect(buffer.popOverflow()?.offset == offset) }
        #expect(buffer.popOverflow() == nil)
        #expect(buffer.popFirst()?.offset == 4)
    }

    @Test func `the records of a single partition are not held back`() {
        var buffer = ReorderBuffer(partitions: 1, latest: .test)
        for offset in Int64(0)..<3 {
            buffer.insert(.raw("", offset: offset, at: .test - .seconds(Int(offset))))
            #expect(buffer.popOverflow()?.offset == offset)
        }
        #expect(buffer.popFirst() == nil)
        #expect(buffer.lateCount == 0)
    }

    @Test func `a record from a clock that is ahead holds up none of those behind it`() {
        var buffer = ReorderBuffer(partitions: 2, latest: .test + .seconds(60))
        let times = [(0, 0), (0, 1_000_000), (0, 1), (1, 0), (1, 2)]
        for (index, (partition, second)) in times.enumerated() {
            let time = Timestamp.test + .seconds(second)
            buffer.insert(.raw("", offset: Int64(index), partition: Int32(partition), at: time))
        }
        var offsets: [Int64] = []
        while let record = buffer.popFirst() { offsets.append(record.offset) }
        #expect(offsets == [0, 1, 3, 2, 4])
        #expect(buffer.lateCount == 0)
    }
}
