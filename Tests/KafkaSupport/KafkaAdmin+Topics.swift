// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka
package import KafkaClient
package import KafkaTools

extension KafkaAdmin {
    /// Creates a topic; an existing one of that name is unchanged.
    ///
    /// A broker learns of a new topic after the controller. So this returns when ten requests in a row, each to a
    /// broker of the client's choice, find the topic, or at the time limit. `settings` are by Kafka's own names, such
    /// as `retention.ms`.
    package static func createTopic(
        _ name: String,
        partitions: Int,
        replicas: Int = 1,
        settings: [String: String] = [:],
        configuration: KafkaConfiguration,
        within limit: Duration = .seconds(10)
    ) async throws(KafkaError) {
        do throws(KafkaError) {
            try await change(configuration) { client throws(KafkaError) in
                try client.createTopic(name, (partitions, replicas), settings, within: limit)
            }
        } catch {
            if error.code != .topicAlreadyExists { throw error.at(topic: name) }
        }
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
        do throws(KafkaError) {
            try await change(configuration) { client throws(KafkaError) in
                try client.deleteTopic(name, within: limit)
            }
        } catch {
            if error.reason != .topicMissing { throw error.at(topic: name) }
        }
    }

    /// The offsets that a group has committed for a topic: the next one of each partition with a commit.
    package static func committedOffsets(
        of group: String,
        topic: String,
        partitions: Int,
        configuration: KafkaConfiguration,
        within limit: Duration = .seconds(10)
    ) async throws(KafkaError) -> [Int32: Int64] {
        // The client can query a group's offsets without joining it.
        let options = ["group.id": group, "enable.auto.commit": "false"]
        let session = try KafkaSession(.consumer, configuration, options)
        let offsets = try await session.ask { client throws(KafkaError) in
            let wanted = (0..<partitions).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
            return try client.committedOffsets(of: wanted, within: limit)
        }
        return Dictionary(offsets.map { ($0.key.partition, $0.value) }) { first, _ in first }
    }

    private static func change(
        _ configuration: KafkaConfiguration,
        _ request: @Sendable (borrowing ClientHandle) throws(KafkaError) -> Void
    ) async throws(KafkaError) {
        let session = try KafkaSession(.producer, configuration, ["enable.idempotence": "false"])
        try await session.ask(request)
    }
}

extension KafkaError.Code {
    fileprivate static let topicAlreadyExists = Self(rawValue: RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS.rawValue)

    /// A broker's answer to a producer whose records have a gap.
    package static let outOfOrderSequence = Self(
        rawValue: RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER.rawValue
    )
}

extension ClientHandle {
    /// Creates a topic, and blocks the thread until the cluster answers.
    fileprivate func createTopic(
        _ name: String,
        _ size: (partitions: Int, replicas: Int),
        _ settings: [String: String],
        within limit: Duration
    ) throws(KafkaError) {
        // SAFETY: the description and the options are read by the call only, and freed here.
        let (partitions, replicas) = (Int32(clamping: size.partitions), Int32(clamping: size.replicas))
        guard let topic = unsafe rd_kafka_NewTopic_new(name, partitions, replicas, nil, 0) else {
            throw KafkaError(.invalidArgument)
        }
        defer { unsafe rd_kafka_NewTopic_destroy(topic) }
        for (name, value) in settings { _ = unsafe rd_kafka_NewTopic_set_config(topic, name, value) }
        var topics: [OpaquePointer?] = unsafe [topic]
        try unsafe change(RD_KAFKA_ADMIN_OP_CREATETOPICS, within: limit) { options in
            unsafe rd_kafka_CreateTopics(client, &topics, 1, options, replies)
        }
    }

    /// Deletes a topic, and blocks the thread until the cluster answers.
    fileprivate func deleteTopic(_ name: String, within limit: Duration) throws(KafkaError) {
        guard let topic = unsafe rd_kafka_DeleteTopic_new(name) else { throw KafkaError(.invalidArgument) }
        defer { unsafe rd_kafka_DeleteTopic_destroy(topic) }
        var topics: [OpaquePointer?] = unsafe [topic]
        try unsafe change(RD_KAFKA_ADMIN_OP_DELETETOPICS, within: limit) { options in
            unsafe rd_kafka_DeleteTopics(client, &topics, 1, options, replies)
        }
    }

    private func change(
        _ kind: rd_kafka_admin_op_t,
        within limit: Duration,
        _ request: (OpaquePointer) -> Void
    ) throws(KafkaError) {
        guard let options = unsafe rd_kafka_AdminOptions_new(client, kind) else { throw KafkaError(.failure) }
        defer { unsafe rd_kafka_AdminOptions_destroy(options) }
        let milliseconds = limit.milliseconds
        unsafe rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, nil, 0)
        unsafe rd_kafka_AdminOptions_set_operation_timeout(options, milliseconds, nil, 0)
        unsafe request(options)
        guard let event = pollReply(limit + .seconds(1)) else { throw KafkaError(.timedOut) }
        if let failure = event.topicFailure { throw failure }
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
            let code = unsafe rd_kafka_topic_result_error(topic)
            return code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(KafkaError.Code(rawValue: code.rawValue))
        }
    }
}
