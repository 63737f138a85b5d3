// SPDX-License-Identifier: Apache-2.0

/// A member of a consumer group.
///
/// `run()` polls on the consumer's own thread for as long as the consumer exists, independently of the rest of the
/// program, which keeps the member in its group. Records wait in a bounded buffer; while it is full they stay in the
/// client, and other events are handled. The assignor is eager (`range`): below librdkafka 2.10 a commit during a
/// cooperative rebalance loses the assignment.
package actor KafkaConsumer: PollingClient {
    struct Waiter {
        let number: Int
        let maximum: Int
        let continuation: CheckedContinuation<Result<RecordBatch?, KafkaError>, Never>
    }

    struct PendingCommit {
        let batches: [RecordBatch]
        let offsets: [TopicPartition: Int64]
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<CommitOutcome, Never>
    }

    /// A revocation that waits for the commit of batches in progress.
    struct Revocation {
        let partitions: [TopicPartition]
        let deadline: ContinuousClock.Instant
    }

    /// Notices about the member; new ones replace the oldest ones when nobody reads them.
    nonisolated package let notices: AsyncStream<ConsumerNotice>

    /// A counter of the polling thread's rounds; nil once the consumer is closed.
    ///
    /// It changes several times a second unless the thread is stalled.
    nonisolated package var pulse: Int? { loop.pulse }

    let loop = PollingLoop()
    nonisolated package let groupID: String
    let topics: [String]
    let noticeSink: AsyncStream<ConsumerNotice>.Continuation

    var handle: ClientHandle?
    var life = ClientLife()

    /// True when leaving the group has begun.
    var isLeaving = false
    var buffer: RecordBuffer

    /// The time since which the buffer is full.
    var fullSince: ContinuousClock.Instant?
    var assignment = Assignment()
    var revocation: Revocation?
    var watches: Watches
    var waiter: Waiter?
    var hasStoppedReading = false
    var commits: [Int: PendingCommit] = [:]

    /// The number of partitions of each topic, by the newest statistics.
    var partitionCounts: [String: Int] = [:]

    /// The number of the latest call that waits, for records or for a commit.
    var lastCall = 0

    nonisolated package var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.thread.asUnownedSerialExecutor()
    }

    /// Makes the client, which joins the group in `run()`.
    package init(
        configuration: KafkaConfiguration,
        groupID: String,
        topics: [String],
        limits: ConsumerLimits = ConsumerLimits()
    ) throws(KafkaError) {
        let settings = try configuration.settings(
            defaults: Self.defaults(beside: configuration.options),
            fixed: Self.fixed.merging(["group.id": groupID]) { $1 }
        )
        let handle = try ClientHandle(.consumer, settings: settings)
        (notices, noticeSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        self.groupID = groupID
        self.topics = topics
        buffer = RecordBuffer(limits: limits)
        watches = Watches(topics: topics)
        loop.attach(handle)
        self.handle = consume handle
    }

    deinit {
        loop.detach()
        noticeSink.finish()
    }

    /// The default options, with the shortest session that brokers allow by default (`group.min.session.timeout.ms`).
    ///
    /// A group detects a dead member only when its session ends, and a rebalance waits for it meanwhile. If the
    /// operator sets only one of session and heartbeat, the library's default is used for the other, since the two must
    /// fit each other.
    private static func defaults(beside options: [String: String]) -> [String: String] {
        let session = ["heartbeat.interval.ms": "1500", "session.timeout.ms": "6000"]
        return session.keys.contains { options[$0] != nil } ? defaults : defaults.merging(session) { $1 }
    }

    private static let defaults = [
        "check.crcs": "true",
        // Brokers send available records at once. Without records, a newly added partition waits for at most this time.
        "fetch.wait.max.ms": "200",
        "max.poll.interval.ms": "60000",
        "queued.max.messages.kbytes": "16384",
        // The statistics show which partitions have no reachable leader.
        "statistics.interval.ms": "2000",
    ]

    private static let fixed = [
        "auto.offset.reset": "earliest",
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        // The end-of-partition event shows the position past transaction markers, and that the partition can be read.
        "enable.partition.eof": "true",
        "partition.assignment.strategy": "range",
    ]
}
