// SPDX-License-Identifier: Apache-2.0

import PinnedThread
import Synchronization

/// An idempotent producer.
///
/// Within one session of the client a record is written once and in the order of its key, retries included. A client
/// that failed for good is replaced; what it had not acknowledged is reported as failed with the cause, so a record may
/// be written twice when it is sent again.
package actor KafkaProducer {
    enum Phase {
        /// Exits: `running` by `run()`, `closing` by `close()`. Records wait.
        case idle

        /// Exits: `closing` by `close()` or cancellation.
        case running

        /// Exits: `closed` when all records have a result, or at the deadline.
        case closing(deadline: ContinuousClock.Instant)

        case closed
    }

    /// How long a `run()` whose task is cancelled may take to write what it was given.
    package static let defaultCloseLimit = Duration.seconds(5)

    /// The shortest time between the making of two clients: one that a broker refuses from the start is made anew with
    /// pauses.
    static let shortestLife = Duration.seconds(5)

    /// What happens to topics; old notices give way to new ones, since nobody has to read them.
    nonisolated package let notices: AsyncStream<ProducerNotice>

    let thread = PinnedThread()
    let wakeups = WakeCounter()
    let noticeSink: AsyncStream<ProducerNotice>.Continuation
    let settings: [String: String]

    var handle: ClientHandle?
    var phase = Phase.idle
    var failure: KafkaError?

    /// Whether the client has failed for good and waits for the next one to take its place.
    var isBroken = false
    var madeAt = ContinuousClock.now
    var backlog = Backlog()
    var trouble = TopicTrouble()
    nonisolated let partitions = PartitionCounts()

    /// The last fault of a connection, which is the cause of what times out; nil once a record was taken.
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

    /// Takes records to be written, and tells of each what became of it as soon as that is known.
    ///
    /// Records of one key are written in the order in which they were given, over calls too. Each has its result after
    /// `delivery.timeout.ms` (30 s) at the latest, counted from when it enters the client's queue; what does not go
    /// into that waits here.
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

    /// Where a record with this key goes.
    nonisolated package func destination(of key: [UInt8]?, in topic: String) -> Destination {
        partitions.destination(of: key, in: topic)
    }

    /// Writes the records and waits for the results, which come in the records' order.
    ///
    /// It waits also when its task is cancelled: what is under way cannot be called back.
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
        // Records of one partition that come meanwhile wait for the answer to the request before, and go together.
        "linger.ms": "0",
        // A record as large as a broker takes by default, and a few headers more, must still go out.
        "message.max.bytes": "10485760",
        "queue.buffering.max.kbytes": "65536",
    ]

    private static let fixed = [
        "acks": "all",
        "enable.idempotence": "true",
        // librdkafka takes a request's success for that of the ones before it, even of those that were refused. It is one
        // only where the broker refuses what follows a gap: not from a producer it does not know yet, and not every kind
        // of broker does. A broker works on one request of a connection at a time anyway.
        "max.in.flight.requests.per.connection": "1",
    ]
}

/// The results of records that were sent together, for the sender when there are all.
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
