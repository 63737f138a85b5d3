// SPDX-License-Identifier: Apache-2.0

import PinnedThread
import Synchronization

/// An idempotent producer.
///
/// Within one client session each record is written once and in the order of its key, retries included. A client with a
/// fatal error is replaced. Its unacknowledged records are reported as failed with the cause, so a record may be
/// written twice when it is sent again.
package actor KafkaProducer {
    enum Phase {
        /// Not started; records wait. Exits: `running` by `run()`, `closing` by `close()`.
        case idle

        /// Writing records. Exits: `closing` by `close()` or cancellation.
        case running

        /// Writing the remaining records. Exits: `closed` when all have a result, or at the deadline.
        case closing(deadline: ContinuousClock.Instant)

        case closed
    }

    /// Time limit for writing the remaining records after a cancellation of `run()`.
    package static let defaultCloseLimit = Duration.seconds(5)

    /// Minimum time between the creation of two clients, in case a broker rejects them from the start.
    static let shortestLife = Duration.seconds(5)

    /// Notices about topics; new ones replace the oldest ones when nobody reads them.
    nonisolated package let notices: AsyncStream<ProducerNotice>

    let thread = PinnedThread()
    let wakeups = WakeCounter()
    let noticeSink: AsyncStream<ProducerNotice>.Continuation
    let settings: [String: String]

    var handle: ClientHandle?
    var phase = Phase.idle
    var failure: KafkaError?

    /// True when the client has a fatal error and is not replaced yet.
    var isBroken = false
    var madeAt = ContinuousClock.now
    var backlog = Backlog()
    var trouble = TopicTrouble()
    nonisolated let partitions = PartitionCounts()

    /// The latest connection fault, which explains timeouts; nil after a delivered record.
    var connectionFault: KafkaError?
    var lookedAt = ContinuousClock.now
    var closeWaiters: [CheckedContinuation<Void, Never>] = []

    nonisolated package var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.asUnownedSerialExecutor()
    }

    package init(configuration: KafkaConfiguration) throws(KafkaError) {
        settings = try configuration.settings(defaults: Self.defaults, fixed: Self.fixed)
        let handle = try ClientHandle(.producer, settings: settings)
        (notices, noticeSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        thread.attachInterrupt(handle.interrupt(wakeups))
        self.handle = consume handle
    }

    deinit {
        thread.detachInterrupt()
        noticeSink.finish()
    }

    /// Accepts records to be written, and calls each one's `answer` when its result is known.
    ///
    /// Records of one key are written in the given order, also across calls. Each has its result after
    /// `delivery.timeout.ms` (30 s) at the latest, counted from its entry into the client's queue; records that do not
    /// fit into that queue wait here.
    package func take(_ records: [OutgoingRecord]) {
        switch phase {
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

    private static let defaults = [
        "delivery.timeout.ms": "30000",
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
