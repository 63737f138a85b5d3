// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// An idempotent producer.
///
/// Within one client session each record is written once and in the order of its key, retries included. A client with a
/// fatal error is replaced. Its unacknowledged records are reported as failed with the cause, so a record may be
/// written twice when it is sent again.
package actor KafkaProducer: PollingClient {
    /// Minimum time between the creation of two clients, in case a broker rejects them from the start.
    static let shortestLife = Duration.seconds(5)

    /// Notices about topics; new ones replace the oldest ones when nobody reads them.
    nonisolated package let notices: AsyncStream<ProducerNotice>

    let loop = PollingLoop()
    let noticeSink: AsyncStream<ProducerNotice>.Continuation
    let settings: [String: String]

    var handle: ClientHandle?
    var life = ClientLife()

    /// True when the client has a fatal error and is not replaced yet.
    var isBroken = false
    var madeAt = ContinuousClock.now
    var backlog = Backlog()
    var trouble = TopicTrouble()
    nonisolated let partitions = PartitionCounts()

    /// The latest connection fault, which explains timeouts; nil after a delivered record.
    var connectionFault: KafkaError?
    var lookedAt = ContinuousClock.now

    nonisolated package var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.thread.asUnownedSerialExecutor()
    }

    package init(configuration: KafkaConfiguration) throws(KafkaError) {
        settings = try configuration.settings(defaults: Self.defaults, fixed: Self.fixed)
        let handle = try ClientHandle(.producer, settings: settings)
        (notices, noticeSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        loop.attach(handle)
        self.handle = consume handle
    }

    deinit {
        loop.detach()
        noticeSink.finish()
    }

    /// Accepts records to be written, and calls each one's `answer` when its result is known.
    ///
    /// Records of one key are written in the given order, also across calls. Each has its result after
    /// `deliveryTimeout` at the latest, counted from its entry into the client's queue; records that do not fit into
    /// that queue wait here.
    package func take(_ records: [OutgoingRecord]) {
        switch life.phase {
        case .idle, .running: break
        case .closing, .closed:
            for record in records { record.answer(.failed(KafkaError(.closed))) }
            return
        }
        for record in records { backlog.append(record, to: partitions.destination(of: record.record)) }
        handOver()
    }

    nonisolated package func destination(of key: [UInt8]?, in topic: String) -> Destination {
        partitions.destination(of: key, in: topic)
    }

    /// Writes the records and waits for the results, which have the order of the records.
    ///
    /// Cancellation does not end the wait: records in flight cannot be recalled.
    package func send(_ records: [ProducerRecord]) async -> [DeliveryResult] {
        guard !records.isEmpty else { return [] }
        return await withCheckedContinuation { sender in
            let results = Results(count: records.count, sender)
            take(
                records.enumerated().map { index, record in
                    OutgoingRecord(record) { results.note($0, at: index) }
                }
            )
        }
    }

    /// The default of `delivery.timeout.ms`.
    package static let deliveryTimeout = Duration.seconds(30)

    private static let defaults = [
        "delivery.timeout.ms": String(deliveryTimeout.milliseconds),
        // Records that arrive while their partition has a request in flight are sent together after its answer.
        "linger.ms": "0",
        // Above the default limit of brokers, so that the largest record can be sent with a few more headers.
        "message.max.bytes": "10485760",
        "queue.buffering.max.kbytes": "65536",
    ]

    private static let fixed = [
        "acks": "all",
        "enable.idempotence": "true",
        // librdkafka takes the success of a request as success of the earlier ones, even of rejected ones. That is
        // right only if the broker rejects records after a gap. It does not for a producer that is new to it, and some
        // kinds of broker never do. The limit costs nothing: a broker handles one request of a connection at a time
        // anyway.
        "max.in.flight.requests.per.connection": "1",
    ]
}

/// The results of records that were sent together; resumes the sender when it has all.
private final class Results: Sendable {
    private let state: Mutex<(results: [DeliveryResult?], open: Int)>
    private let sender: CheckedContinuation<[DeliveryResult], Never>

    init(count: Int, _ sender: CheckedContinuation<[DeliveryResult], Never>) {
        state = Mutex((results: Array(repeating: nil, count: count), open: count))
        self.sender = sender
    }

    func note(_ result: DeliveryResult, at index: Int) {
        let all: [DeliveryResult]? = state.withLock { state in
            state.results[index] = result
            state.open -= 1
            return state.open == 0 ? state.results.compactMap(\.self) : nil
        }
        if let all { sender.resume(returning: all) }
    }
}
