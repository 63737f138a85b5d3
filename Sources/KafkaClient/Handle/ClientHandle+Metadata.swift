// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

extension ClientHandle {
    /// The number of partitions of a topic; queries a broker and blocks the thread.
    package func partitionCount(of topic: String, within limit: Duration) throws(KafkaError) -> Int {
        try partitions(of: topic, within: limit).count
    }

    /// Finds the reasons why destinations of a topic accept no records although brokers answer; blocks the thread.
    ///
    /// The client retries records that a topic rejects, and then reports only a timeout. A partition without a cause on
    /// the brokers' side gets a timeout here, too: its leader does not answer. The result is empty when no broker
    /// answers.
    func obstacles(
        to destinations: [Destination],
        of topic: String,
        within limit: Duration
    ) -> [Destination: KafkaError] {
        do throws(KafkaError) {
            let partitions = try partitions(of: topic, within: limit)
            let minimum = setting("min.insync.replicas", of: topic, within: limit).flatMap { Int32($0) }
            let causes = partitions.compactMap { partition in
                partition.obstacle(minimumInSync: minimum)?.at(topic: topic, partition: partition.number)
            }
            return Dictionary(
                uniqueKeysWithValues: destinations.map { destination in
                    let cause = causes.first { destination.partition == nil || $0.partition == destination.partition }
                    let silence = KafkaError(.messageTimedOut).at(topic: topic, partition: destination.partition)
                    return (destination, cause ?? silence)
                }
            )
        } catch {
            guard error.reason.isOfTopic else { return [:] }
            return Dictionary(uniqueKeysWithValues: destinations.map { ($0, error) })
        }
    }

    /// A setting of a topic by Kafka's name; nil when the client has no permission to read it.
    ///
    /// Queries a broker and blocks the thread.
    package func setting(_ name: String, of topic: String, within limit: Duration) -> String? {
        // SAFETY: the description and the options are read by the call only, and freed here.
        guard let resource = unsafe rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic),
            let options = unsafe rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS)
        else { return nil }
        defer {
            unsafe rd_kafka_ConfigResource_destroy(resource)
            unsafe rd_kafka_AdminOptions_destroy(options)
        }
        unsafe rd_kafka_AdminOptions_set_request_timeout(options, limit.milliseconds, nil, 0)
        var resources: [OpaquePointer?] = unsafe [resource]
        unsafe rd_kafka_DescribeConfigs(client, &resources, 1, options, replies)
        return pollReply(limit + .milliseconds(100))?.setting(name)
    }

    private struct PartitionState {
        let number: Int32
        let error: KafkaError?
        let inSync: Int32
        let replicas: Int32

        init(_ partition: rd_kafka_metadata_partition) {
            unsafe (number, inSync, replicas) = (partition.id, partition.isr_cnt, partition.replica_cnt)
            let hasLeader = unsafe partition.leader >= 0
            error = unsafe KafkaError(failure: partition.err) ?? (hasLeader ? nil : KafkaError(.leaderNotAvailable))
        }

        /// The reason why the partition accepts no records, if brokers report one.
        ///
        /// Brokers require no more replicas than exist. A client without permission to read the topic's settings counts
        /// any replica that is out of sync as the cause.
        func obstacle(minimumInSync: Int32?) -> KafkaError? {
            error ?? (inSync < min(minimumInSync ?? replicas, replicas) ? KafkaError(.notEnoughReplicas) : nil)
        }
    }

    /// A topic's partitions as a broker reports them; blocks the thread.
    private func partitions(of topic: String, within limit: Duration) throws(KafkaError) -> [PartitionState] {
        guard let handle = unsafe rd_kafka_topic_new(client, topic, nil) else { throw KafkaError(.invalidArgument) }
        defer { unsafe rd_kafka_topic_destroy(handle) }
        var answer: UnsafePointer<rd_kafka_metadata>?
        let code = unsafe rd_kafka_metadata(client, 0, handle, &answer, limit.milliseconds)
        if let error = KafkaError(failure: code) { throw error.at(topic: topic) }
        guard let answer = unsafe answer else { throw KafkaError(.failure) }
        defer { unsafe rd_kafka_metadata_destroy(answer) }
        guard unsafe answer.pointee.topic_cnt > 0, let found = unsafe answer.pointee.topics else {
            throw KafkaError(.unknownTopicOrPartition).at(topic: topic)
        }
        if let error = unsafe KafkaError(failure: found.pointee.err) { throw error.at(topic: topic) }
        let partitions = unsafe UnsafeBufferPointer(
            start: found.pointee.partitions,
            count: Int(found.pointee.partition_cnt)
        )
        return unsafe partitions.map { unsafe PartitionState($0) }
    }

    /// The first offset of a partition and the offset after its last record; queries a broker and blocks the thread.
    package func bounds(of partition: TopicPartition, within limit: Duration) throws(KafkaError) -> Range<Int64> {
        var low: Int64 = 0
        var high: Int64 = 0
        let code = unsafe rd_kafka_query_watermark_offsets(
            client,
            partition.topic,
            partition.partition,
            &low,
            &high,
            limit.milliseconds
        )
        if let error = KafkaError(failure: code) { throw error.at(partition) }
        return low..<max(low, high)
    }

    /// The first offset of each partition at or after the partition's own time; `RD_KAFKA_OFFSET_END` for none.
    package func offsets(
        at timestamps: [(TopicPartition, Int64)],
        within limit: Duration
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let list = try PartitionList(timestamps)
        let code = unsafe rd_kafka_offsets_for_times(client, list.list, limit.milliseconds)
        if let error = KafkaError(failure: code) { throw error }
        var offsets: [TopicPartition: Int64] = [:]
        for entry in list.offsets {
            if let error = entry.error { throw error }
            offsets[entry.partition] = entry.offset
        }
        return offsets
    }
}

extension ClientEvent {
    /// A setting in the description of a single topic; nil when it is missing.
    fileprivate func setting(_ name: String) -> String? {
        unsafe withEvent { event in
            guard let result = unsafe rd_kafka_event_DescribeConfigs_result(event) else { return nil }
            var count = 0
            let resources = unsafe rd_kafka_DescribeConfigs_result_resources(result, &count)
            guard count > 0, let resource = unsafe resources?[0] else { return nil }
            let entries = unsafe rd_kafka_ConfigResource_configs(resource, &count)
            for index in 0..<count {
                guard let entry = unsafe entries?[index], let found = unsafe rd_kafka_ConfigEntry_name(entry),
                    unsafe String(cString: found) == name, let value = unsafe rd_kafka_ConfigEntry_value(entry)
                else { continue }
                return unsafe String(cString: value)
            }
            return nil
        }
    }
}
