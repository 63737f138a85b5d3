// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// A librdkafka client and the queues of its events.
///
/// End it with `close(within:)`. A handle that is dropped instead is destroyed in the background.
// SAFETY: the pointers belong to this value alone and stay valid until `close` or `deinit` hands them to
// `ClientDestruction`, which releases the queues before the client, as the library demands.
@safe package struct ClientHandle: ~Copyable {
    package enum Kind {
        case consumer, producer
    }

    package let client: OpaquePointer

    /// Rebalances and errors of a consumer; delivery reports and errors of a producer.
    private let events: OpaquePointer

    /// Records of partitions that `separateRecords(of:)` was called for.
    let records: OpaquePointer

    /// Answers to commits and to administrative requests.
    package let replies: OpaquePointer

    package init(_ kind: Kind, settings: [String: String]) throws(KafkaError) {
        let types: Int32
        switch kind {
        case .consumer:
            types =
                RD_KAFKA_EVENT_FETCH | RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT | RD_KAFKA_EVENT_ERROR
                | RD_KAFKA_EVENT_STATS
        case .producer:
            types = RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR
        }
        let options = try ClientOptions()
        try options.set(settings, events: types)
        let type = kind == .consumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER
        let client = unsafe try options.makeClient(type, names: Array(settings.keys))
        if kind == .consumer { unsafe rd_kafka_poll_set_consumer(client) }
        let events = unsafe kind == .consumer ? rd_kafka_queue_get_consumer(client) : rd_kafka_queue_get_main(client)
        guard let events = unsafe events, let records = unsafe rd_kafka_queue_new(client),
            let replies = unsafe rd_kafka_queue_new(client)
        else {
            unsafe rd_kafka_destroy(client)
            throw KafkaError(.failure)
        }
        unsafe (self.client, self.events, self.records, self.replies) = (client, events, records, replies)
    }

    /// The next event, after a wait of at most `limit`; nil also after a wake-up.
    package func poll(_ limit: Duration) -> ClientEvent? {
        unsafe ClientEvent(adopting: rd_kafka_queue_poll(events, limit.milliseconds))
    }

    /// The next record, or another event of a partition whose records are separate.
    package func pollRecord(_ limit: Duration) -> ClientEvent? {
        unsafe ClientEvent(adopting: rd_kafka_queue_poll(records, limit.milliseconds))
    }

    /// The next answer to a commit.
    package func pollReply(_ limit: Duration) -> ClientEvent? {
        unsafe ClientEvent(adopting: rd_kafka_queue_poll(replies, limit.milliseconds))
    }

    /// Makes the closure that ends a blocking poll; detach it before the handle is destroyed.
    func interrupt(_ wakeups: WakeCounter) -> @Sendable () -> Void {
        let queues = unsafe Queues(events: events, records: records, replies: replies)
        return {
            wakeups.add()
            queues.wake()
        }
    }

    /// Starts to leave the group; the resulting events arrive through `poll`.
    func beginClosing() -> KafkaError? {
        unsafe KafkaError(adopting: rd_kafka_consumer_close_queue(client, events))
    }

    var isClosed: Bool { unsafe rd_kafka_consumer_closed(client) != 0 }

    /// Destroys the client; false when the library was not done in time and continues in the background.
    package consuming func close(within limit: Duration) -> Bool {
        let destruction = unsafe ClientDestruction(client: client, queues: [events, records, replies])
        discard self
        return destruction.run(within: limit)
    }

    deinit {
        unsafe ClientDestruction(client: client, queues: [events, records, replies]).start()
    }
}

/// The queues of a handle, for the threads that wake it.
// SAFETY: the library's queues may be yielded from any thread; the executor's interrupt, which alone holds this value,
// is detached before the queues are released.
@safe private struct Queues: @unchecked Sendable {
    let events: OpaquePointer
    let records: OpaquePointer
    let replies: OpaquePointer

    func wake() {
        unsafe rd_kafka_queue_yield(events)
        unsafe rd_kafka_queue_yield(records)
        unsafe rd_kafka_queue_yield(replies)
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, within the range of a C timeout; never negative.
    package var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(truncatingIfNeeded: seconds * 1000 + fraction)
    }
}
