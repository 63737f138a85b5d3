// SPDX-License-Identifier: Apache-2.0

import PinnedThread

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

    let thread = PinnedThread()
    let wakeups = WakeCounter()
    let settings: [String: String]

    var handle: ClientHandle?
    var phase = Phase.idle
    var failure: KafkaError?

    /// Whether the client has failed for good and waits for the next one to take its place.
    var isBroken = false
    var madeAt = ContinuousClock.now
    var backlog = Backlog()
    var senders: [Int: CheckedContinuation<[DeliveryResult], Never>] = [:]
    var closeWaiters: [CheckedContinuation<Void, Never>] = []

    nonisolated package var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.asUnownedSerialExecutor()
    }

    package init(configuration: KafkaConfiguration) throws(KafkaError) {
        settings = try configuration.settings(defaults: Self.defaults, fixed: Self.fixed)
        let handle = try ClientHandle(.producer, settings: settings)
        thread.attachInterrupt(handle.interrupt(wakeups))
        self.handle = consume handle
    }

    deinit {
        thread.detachInterrupt()
    }

    /// Writes the records and waits for the results, which come in the records' order.
    ///
    /// Records of one key are written in the order in which they were given, over calls too. A full queue makes the
    /// call wait. It ends after `delivery.timeout.ms` (30 s) at the latest, counted from when a record enters the
    /// client's queue, also when its task is cancelled: what is under way cannot be called back.
    package func send(_ records: [ProducerRecord]) async -> [DeliveryResult] {
        guard !records.isEmpty else { return [] }
        switch phase {
        case .idle, .running: break
        case .closing, .closed: return records.map { _ in .failed(KafkaError(.closed)) }
        }
        guard records.count <= Backlog.maximumCount else {
            return records.map { _ in .failed(KafkaError(.invalidArgument)) }
        }
        return await withCheckedContinuation { sender in
            // Known before anything is handed over: the client may refuse all of it at once.
            senders[backlog.append(records)] = sender
            handOver()
        }
    }

    private static let defaults = [
        "delivery.timeout.ms": "30000",
        "linger.ms": "1",
        // A record as large as a broker takes by default, and a few headers more, must still go out.
        "message.max.bytes": "10485760",
        "queue.buffering.max.kbytes": "65536",
    ]

    private static let fixed = [
        "acks": "all",
        "enable.idempotence": "true",
    ]
}
