// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Sorts the records of several partitions by time, as far as its capacity allows.
///
/// Windows of IP addresses and tenants span partitions, and a reader may be far ahead in one of them. Records of one
/// partition keep their order whatever their times are.
struct ReorderBuffer {
    private struct Entry {
        /// The time of the record, or of an earlier record of its partition if that is later.
        let arrival: Timestamp
        let record: InboundRecord

        func comes(before other: Entry) -> Bool {
            (arrival, record.partition, record.offset) < (other.arrival, other.record.partition, other.record.offset)
        }
    }

    private let capacity: Int
    private let maximumBytes: Int
    private let latest: Timestamp
    private var newest: [Int32: Timestamp] = [:]

    /// A binary heap, earliest record first.
    private var heap: [Entry] = []
    private var bytes = 0
    private var lastArrival = Timestamp(microseconds: .min)

    /// The number of records that arrived after a later one was already released.
    private(set) var lateCount = 0

    /// - Parameters:
    ///   - partitions: with a single partition the records are already in order, and none is buffered.
    ///   - latest: the upper bound of times; a record beyond it gets the time of the record before it.
    ///   - capacity: the maximum number of buffered records.
    ///   - maximumBytes: the maximum size of the buffered records.
    init(partitions: Int, latest: Timestamp, capacity: Int = 50_000, maximumBytes: Int = 64 << 20) {
        self.capacity = partitions > 1 ? max(1, capacity) : 0
        self.maximumBytes = maximumBytes
        self.latest = latest
    }

    mutating func insert(_ record: InboundRecord) {
        let time = record.timestamp.flatMap { $0 <= latest ? $0 : nil } ?? lastArrival
        let arrival = max(time, newest[record.partition] ?? time)
        newest[record.partition] = arrival
        heap.append(Entry(arrival: arrival, record: record))
        bytes += record.size
        siftUp()
    }

    /// The earliest record while the buffer is above its capacity, else nil.
    mutating func popOverflow() -> InboundRecord? {
        heap.count > capacity || bytes > maximumBytes ? popFirst() : nil
    }

    mutating func popFirst() -> InboundRecord? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty {
            heap[0] = last
            siftDown()
        }
        bytes -= first.record.size
        if first.arrival < lastArrival { lateCount += 1 } else { lastArrival = first.arrival }
        return first.record
    }

    private mutating func siftUp() {
        var child = heap.count - 1
        while child > 0, case let parent = (child - 1) / 2, heap[child].comes(before: heap[parent]) {
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while case let left = 2 * parent + 1, left < heap.count {
            let right = left + 1
            let child = right < heap.count && heap[right].comes(before: heap[left]) ? right : left
            guard heap[child].comes(before: heap[parent]) else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}

extension InboundRecord {
    /// The bytes of key, value and headers.
    fileprivate var size: Int { headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) { $0 + $1.size } }
}
