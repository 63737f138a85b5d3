// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

extension ClientHandle {
    /// How many partitions a topic has; asks a broker and blocks the thread meanwhile.
    func partitionCount(of topic: String, within limit: Duration) throws(KafkaError) -> Int {
        guard let handle = unsafe rd_kafka_topic_new(client, topic, nil) else { throw KafkaError(.invalidArgument) }
        defer { unsafe rd_kafka_topic_destroy(handle) }
        var answer: UnsafePointer<rd_kafka_metadata>?
        let code = unsafe rd_kafka_metadata(client, 0, handle, &answer, limit.milliseconds)
        if let error = KafkaError(failure: code) { throw error }
        guard let answer = unsafe answer else { throw KafkaError(.failure) }
        defer { unsafe rd_kafka_metadata_destroy(answer) }
        guard unsafe answer.pointee.topic_cnt > 0, let found = unsafe answer.pointee.topics else {
            throw KafkaError(.unknownTopicOrPartition)
        }
        if let error = unsafe KafkaError(failure: found.pointee.err) { throw error }
        return unsafe Int(found.pointee.partition_cnt)
    }

    /// The first offset of a partition and the one after its last; asks a broker and blocks the thread meanwhile.
    func bounds(of partition: TopicPartition, within limit: Duration) throws(KafkaError) -> Range<Int64> {
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
        if let error = KafkaError(failure: code) { throw error }
        return low..<max(low, high)
    }

    /// The first offset of each partition at or after a time; `RD_KAFKA_OFFSET_END` where there is none.
    func offsets(
        at timestamp: Int64,
        of partitions: [TopicPartition],
        within limit: Duration
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let list = try PartitionList(partitions.map { ($0, timestamp) })
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
