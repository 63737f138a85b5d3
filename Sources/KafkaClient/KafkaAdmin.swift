// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka
import PinnedThread

/// Creates, deletes and inspects topics, each call through a client of its own.
package enum KafkaAdmin {
    /// Creates a topic; an existing one of that name is unchanged.
    ///
    /// A broker learns of a new topic after the controller. So this returns when ten requests in a row, each to a
    /// broker of the client's choice, find the topic, or at the time limit.
    package static func createTopic(
        _ name: String,
        partitions: Int,
        replicas: Int = 1,
        settings: [String: String] = [:],
        configuration: KafkaConfiguration,
        within limit: Duration = .seconds(10)
    ) async throws(KafkaError) {
        let session = try AdminSession(configuration: configuration)
        let topic = NewTopic(name: name, partitions: partitions, replicas: replicas, settings: settings)
        let failure = await session.createTopic(topic, within: limit)
        await session.close()
        if let failure, failure.code != .topicAlreadyExists { throw failure }
        let deadline = ContinuousClock.now + limit
        var known = 0
        while known < 10, ContinuousClock.now < deadline, !Task.isCancelled {
            do {
                _ = try await partitionCount(of: name, configuration: configuration, within: limit)
                known += 1
            } catch {
                known = 0
                // No notification says that a broker knows the topic, so poll.
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// Deletes a topic with its records; succeeds when it is missing already.
    package static func deleteTopic(
        _ name: String,
        configuration: KafkaConfiguration,
        within limit: Duration = .seconds(10)
    ) async throws(KafkaError) {
        let session = try AdminSession(configuration: configuration)
        let failure = await session.deleteTopic(name, within: limit)
        await session.close()
        if let failure, failure.reason != .topicMissing { throw failure }
    }

    /// The number of partitions of a topic; throws `.unknownTopicOrPartition` when it does not exist.
    package static func partitionCount(
        of topic: String,
        configuration: KafkaConfiguration,
        within limit: Duration = .seconds(10)
    ) async throws(KafkaError) -> Int {
        let session = try AdminSession(configuration: configuration)
        let count = await session.partitionCount(of: topic, within: limit)
        await session.close()
        return try count.get()
    }

    /// The offsets that a group has committed for a topic: the next one of each partition with a commit.
    package static func committedOffsets(
        of group: String,
        topic: String,
        partitions: Int,
        configuration: KafkaConfiguration,
        within limit: Duration = .seconds(10)
    ) async throws(KafkaError) -> [Int32: Int64] {
        let session = try AdminSession(configuration: configuration, group: group)
        let offsets = await session.committedOffsets(topic, partitions, within: limit)
        await session.close()
        return try offsets.get()
    }
}

private struct NewTopic: Sendable {
    let name: String
    let partitions: Int
    let replicas: Int

    /// Settings by Kafka's own names, such as `retention.ms`.
    let settings: [String: String]
}

/// A client whose blocking calls run on a thread of its own.
private actor AdminSession {
    private let thread = PinnedThread()
    private var handle: ClientHandle?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.asUnownedSerialExecutor()
    }

    init(configuration: KafkaConfiguration) throws(KafkaError) {
        handle = try ClientHandle(
            .producer,
            settings: configuration.settings(defaults: [:], fixed: ["enable.idempotence": "false"])
        )
    }

    /// A session that can query a group's offsets; it never joins the group.
    init(configuration: KafkaConfiguration, group: String) throws(KafkaError) {
        handle = try ClientHandle(
            .consumer,
            settings: configuration.settings(defaults: [:], fixed: ["group.id": group, "enable.auto.commit": "false"])
        )
    }

    func createTopic(_ topic: NewTopic, within limit: Duration) -> KafkaError? {
        guard let error = handle?.createTopic(topic, within: limit) else { return nil }
        return (handle?.explain(error) ?? error).at(topic: topic.name)
    }

    func deleteTopic(_ name: String, within limit: Duration) -> KafkaError? {
        guard let error = handle?.deleteTopic(name, within: limit) else { return nil }
        return (handle?.explain(error) ?? error).at(topic: name)
    }

    func partitionCount(of topic: String, within limit: Duration) -> Result<Int, KafkaError> {
        do throws(KafkaError) {
            guard let count = try handle?.partitionCount(of: topic, within: limit) else { throw KafkaError(.closed) }
            return .success(count)
        } catch {
            return .failure(handle?.explain(error) ?? error)
        }
    }

    func committedOffsets(
        _ topic: String,
        _ partitions: Int,
        within limit: Duration
    ) -> Result<[Int32: Int64], KafkaError> {
        do throws(KafkaError) {
            let wanted = (0..<partitions).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
            guard let offsets = try handle?.committedOffsets(wanted, within: limit) else { throw KafkaError(.closed) }
            return .success(offsets)
        } catch {
            return .failure(handle?.explain(error) ?? error)
        }
    }

    func close() {
        guard let handle = handle.take() else { return }
        // A client that takes longer is freed in the background.
        _ = handle.close(within: .seconds(2))
    }
}

extension ClientHandle {
    /// Creates a topic, and blocks the thread until the cluster answers.
    fileprivate func createTopic(_ wanted: NewTopic, within limit: Duration) -> KafkaError? {
        // SAFETY: the description and the options are read by the call only, and freed here.
        let sizes = (partitions: Int32(clamping: wanted.partitions), replicas: Int32(clamping: wanted.replicas))
        guard let topic = unsafe rd_kafka_NewTopic_new(wanted.name, sizes.partitions, sizes.replicas, nil, 0) else {
            return KafkaError(.invalidArgument)
        }
        defer { unsafe rd_kafka_NewTopic_destroy(topic) }
        for (name, value) in wanted.settings { _ = unsafe rd_kafka_NewTopic_set_config(topic, name, value) }
        var topics: [OpaquePointer?] = unsafe [topic]
        return unsafe change(RD_KAFKA_ADMIN_OP_CREATETOPICS, within: limit) { options in
            unsafe rd_kafka_CreateTopics(client, &topics, 1, options, replies)
        }
    }

    /// Deletes a topic, and blocks the thread until the cluster answers.
    fileprivate func deleteTopic(_ name: String, within limit: Duration) -> KafkaError? {
        guard let topic = unsafe rd_kafka_DeleteTopic_new(name) else { return KafkaError(.invalidArgument) }
        defer { unsafe rd_kafka_DeleteTopic_destroy(topic) }
        var topics: [OpaquePointer?] = unsafe [topic]
        return unsafe change(RD_KAFKA_ADMIN_OP_DELETETOPICS, within: limit) { options in
            unsafe rd_kafka_DeleteTopics(client, &topics, 1, options, replies)
        }
    }

    private func change(
        _ kind: rd_kafka_admin_op_t,
        within limit: Duration,
        _ request: (OpaquePointer) -> Void
    ) -> KafkaError? {
        guard let options = unsafe rd_kafka_AdminOptions_new(client, kind) else { return KafkaError(.failure) }
        defer { unsafe rd_kafka_AdminOptions_destroy(options) }
        let milliseconds = limit.milliseconds
        unsafe rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, nil, 0)
        unsafe rd_kafka_AdminOptions_set_operation_timeout(options, milliseconds, nil, 0)
        unsafe request(options)
        guard let event = pollReply(limit + .seconds(1)) else { return KafkaError(.timedOut) }
        return event.topicFailure
    }
}

extension ClientEvent {
    /// The reason why a topic was not created or deleted; nil on success.
    fileprivate var topicFailure: KafkaError? {
        if let error { return error }
        return unsafe withEvent { event in
            var count = 0
            var topics: UnsafeMutablePointer<OpaquePointer?>?
            if let result = unsafe rd_kafka_event_CreateTopics_result(event) {
                unsafe topics = rd_kafka_CreateTopics_result_topics(result, &count)
            } else if let result = unsafe rd_kafka_event_DeleteTopics_result(event) {
                unsafe topics = rd_kafka_DeleteTopics_result_topics(result, &count)
            }
            guard count > 0, let topic = unsafe topics?[0] else { return KafkaError(.failure) }
            return unsafe KafkaError(failure: rd_kafka_topic_result_error(topic))
        }
    }
}
