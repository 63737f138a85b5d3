// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// A librdkafka client and the queues that its events come through.
///
/// `close(within:)` is the way to end it. A handle that is dropped instead is destroyed in the background.
// SAFETY: the pointers belong to this value alone and stay valid until `close` or `deinit` hands them to
// `ClientDestruction`, which releases the queues before the client, as the library demands.
@safe struct ClientHandle: ~Copyable {
    enum Kind {
        case consumer, producer
    }

    let client: OpaquePointer

    /// Records, rebalances and errors of a consumer; delivery reports and errors of a producer.
    private let events: OpaquePointer

    /// Answers to commits, apart from `events`, where they would wait behind all records that were read ahead.
    let replies: OpaquePointer

    init(_ kind: Kind, settings: [String: String]) throws(KafkaError) {
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
        guard let events = unsafe events, let replies = unsafe rd_kafka_queue_new(client) else {
            unsafe rd_kafka_destroy(client)
            throw KafkaError(.failure)
        }
        unsafe (self.client, self.events, self.replies) = (client, events, replies)
    }

    /// The next event, waiting at most so long; nil also when woken.
    func poll(_ limit: Duration) -> ClientEvent? {
        unsafe ClientEvent(adopting: rd_kafka_queue_poll(events, limit.milliseconds))
    }

    /// The next answer to a commit.
    func pollReply(_ limit: Duration) -> ClientEvent? {
        unsafe ClientEvent(adopting: rd_kafka_queue_poll(replies, limit.milliseconds))
    }

    /// An error with the cause that the client's connections told since the last poll, where it has none of its own.
    ///
    /// For clients of one call alone: other events that are there are dropped.
    func explain(_ error: KafkaError) -> KafkaError {
        var explained = error
        while let event = poll(.zero) {
            if event.kind == .error { explained = explained.explained(by: event.error) }
        }
        return explained
    }

    /// What ends a poll that waits; it must be detached before the handle goes.
    func interrupt(_ wakeups: WakeCounter) -> @Sendable () -> Void {
        let queues = unsafe QueuePair(events: events, replies: replies)
        return {
            wakeups.add()
            queues.wake()
        }
    }

    /// Begins the group's farewell, whose events come through `poll`.
    func beginClosing() -> KafkaError? {
        unsafe KafkaError(adopting: rd_kafka_consumer_close_queue(client, events))
    }

    var isClosed: Bool { unsafe rd_kafka_consumer_closed(client) != 0 }

    /// Destroys the client; false when the library did not finish in time and goes on in the background.
    consuming func close(within limit: Duration) -> Bool {
        let destruction = unsafe ClientDestruction(client: client, events: events, replies: replies)
        discard self
        return destruction.run(within: limit)
    }

    deinit {
        unsafe ClientDestruction(client: client, events: events, replies: replies).start()
    }
}

/// The two queues of a handle, for the threads that wake it.
// SAFETY: the library's queues may be yielded from any thread; the executor's interrupt, which alone holds this value,
// is detached before the queues are released.
@safe private struct QueuePair: @unchecked Sendable {
    let events: OpaquePointer
    let replies: OpaquePointer

    func wake() {
        unsafe rd_kafka_queue_yield(events)
        unsafe rd_kafka_queue_yield(replies)
    }
}
