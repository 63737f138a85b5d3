// SPDX-License-Identifier: Apache-2.0

import PinnedThread
import Synchronization

/// A member of a consumer group.
///
/// `run()` polls on a thread of the consumer's own for as long as the consumer lives, whatever the rest of the program
/// does: that keeps the member in its group. Records wait in a bounded buffer; when it stays full the partitions are
/// paused, and polling goes on. The assignor is eager (`range`): below librdkafka 2.10 a commit that meets a
/// cooperative rebalance loses the assignment.
package actor KafkaConsumer {
    /// What a call finds; each is total in every phase.
    enum Phase {
        /// Exits: `running` by `run()`, `closing` by `close()`.
        case idle

        /// Exits: `closing` by `close()`, cancellation or a fatal error.
        case running

        /// The farewell to the group. Exits: `closed`, at the latest soon after the deadline.
        case closing(deadline: ContinuousClock.Instant, hasBegun: Bool)

        case closed
    }

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

    /// A revocation that waits for the commit of a batch that is still being worked on.
    struct Revocation {
        let partitions: [TopicPartition]
        let deadline: ContinuousClock.Instant
    }

    /// How long `close()` and a `run()` that ends by itself may take to leave the group.
    package static let defaultCloseLimit = Duration.seconds(5)

    /// What happens to the member; old notices give way to new ones, since nobody has to read them.
    nonisolated package let notices: AsyncStream<ConsumerNotice>

    /// Counts the turns of the polling thread: it changes several times a second for as long as the thread gets on; nil
    /// once the consumer is closed.
    nonisolated package var pulse: Int? { hasClosed.load(ordering: .acquiring) ? nil : turns.value }

    let thread = PinnedThread()
    let wakeups = WakeCounter()
    let turns = WakeCounter()
    let hasClosed = Atomic(false)
    nonisolated package let groupID: String
    let topics: [String]
    let noticeSink: AsyncStream<ConsumerNotice>.Continuation

    var handle: ClientHandle?
    var phase = Phase.idle
    var failure: KafkaError?
    var topicNames = TopicNames()
    var buffer: RecordBuffer
    var flow = FlowControl()
    var assignment = Assignment()
    var pausedPartitions: [TopicPartition] = []
    var revocation: Revocation?
    var areBrokersReachable = true
    var lossWatch = LossWatch()
    var lagWatch = LagWatch()
    var readFaults = ReadFaults()
    var leaderWatch = LeaderWatch()
    var groupWatch = GroupWatch()
    var identity = TopicIdentity()

    /// The last fault of a connection while no broker was reached since.
    var connectionFault: KafkaError?

    /// Topics that have been told to carry their producers' times.
    var topicsTimedByProducers: Set<String> = []
    var waiter: Waiter?
    var waiterCount = 0
    var hasStoppedReading = false
    var commits: [Int: PendingCommit] = [:]
    var commitCount = 0
    var closeWaiters: [CheckedContinuation<Void, Never>] = []

    nonisolated package var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.asUnownedSerialExecutor()
    }

    /// Makes the client; it joins the group when it runs.
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
        thread.attachInterrupt(handle.interrupt(wakeups))
        self.handle = consume handle
    }

    deinit {
        thread.detachInterrupt()
        noticeSink.finish()
    }

    /// A member that died is given up by the group after its session, and a group that rebalances meanwhile waits for it:
    /// the session is the shortest that brokers allow by default (`group.min.session.timeout.ms`).
    ///
    /// Who sets a heartbeat or a session alone gets the library's own for the other: the two have to fit each other.
    private static func defaults(beside options: [String: String]) -> [String: String] {
        let session = ["heartbeat.interval.ms": "1500", "session.timeout.ms": "6000"]
        return session.keys.contains { options[$0] != nil } ? defaults : defaults.merging(session) { $1 }
    }

    private static let defaults = [
        "check.crcs": "true",
        // Brokers send at once what there is. While there is nothing, a partition that is added waits for so long.
        "fetch.wait.max.ms": "200",
        "max.poll.interval.ms": "60000",
        "queued.max.messages.kbytes": "16384",
        // They tell which partitions have no leader within reach.
        "statistics.interval.ms": "2000",
    ]

    private static let fixed = [
        "auto.offset.reset": "earliest",
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        // The end tells how far a partition is read behind marks of transactions, and that it can be read.
        "enable.partition.eof": "true",
        "partition.assignment.strategy": "range",
    ]
}
