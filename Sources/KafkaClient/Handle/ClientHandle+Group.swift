// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

extension ClientHandle {
    func subscribe(_ topics: [String]) throws(KafkaError) {
        let list = try PartitionList(topics.map { TopicPartition(topic: $0, partition: -1) })
        try check(unsafe rd_kafka_subscribe(client, list.list))
    }

    /// Starts reading at the group's committed offsets.
    func assign(_ partitions: [TopicPartition]) throws(KafkaError) {
        let list = try PartitionList(partitions)
        try check(unsafe rd_kafka_assign(client, list.list))
    }

    /// Starts reading at given offsets.
    package func assign(_ offsets: [(TopicPartition, Int64)]) throws(KafkaError) {
        let list = try PartitionList(offsets)
        try check(unsafe rd_kafka_assign(client, list.list))
    }

    /// Gives up all partitions, as the answer to a revocation.
    func unassign() throws(KafkaError) {
        try check(unsafe rd_kafka_assign(client, nil))
    }

    /// True while a revocation that the group forced is unanswered.
    var isAssignmentLost: Bool { unsafe rd_kafka_assignment_lost(client) != 0 }

    /// Puts the records of partitions into `records`; call it before `assign`.
    ///
    /// A busy program leaves records in their queue, where the client's own limit stops fetching, and still gets other
    /// events. Pausing the partitions instead would drop the prefetched records, which are then fetched again.
    func separateRecords(of partitions: [TopicPartition]) {
        for partition in partitions {
            let queue = unsafe rd_kafka_queue_get_partition(client, partition.topic, partition.partition)
            guard let queue = unsafe queue else { continue }
            unsafe rd_kafka_queue_forward(queue, records)
            unsafe rd_kafka_queue_destroy(queue)
        }
    }

    /// Fetches a partition again from an offset, so that its end is reported again; does not wait for the answer.
    func seek(_ partition: TopicPartition, to offset: Int64) throws(KafkaError) {
        guard let topic = unsafe rd_kafka_topic_new(client, partition.topic, nil) else {
            throw KafkaError(.invalidArgument)
        }
        defer { unsafe rd_kafka_topic_destroy(topic) }
        try check(unsafe rd_kafka_seek(topic, partition.partition, offset, 0))
    }

    /// Sends a commit, whose answer arrives through `pollReply` with the token.
    func commit(_ offsets: [TopicPartition: Int64], token: Int) throws(KafkaError) {
        let list = try PartitionList(offsets.map { ($0.key, $0.value) })
        // SAFETY: the library hands the token back and never follows it.
        let opaque = unsafe UnsafeMutableRawPointer(bitPattern: token)
        try check(unsafe rd_kafka_commit_queue(client, list.list, replies, nil, opaque))
    }

    /// The group's committed offsets by topic and partition; queries the coordinator and blocks the thread.
    package func committedOffsets(
        of partitions: [TopicPartition],
        within limit: Duration
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let list = try PartitionList(partitions)
        try check(unsafe rd_kafka_committed(client, list.list, limit.milliseconds))
        var offsets: [TopicPartition: Int64] = [:]
        for entry in list.offsets {
            if let error = entry.error { throw error }
            if entry.offset >= 0 { offsets[entry.partition] = entry.offset }
        }
        return offsets
    }

    /// The offset after a partition's last record, by the last fetch response.
    package func cachedEnd(of partition: TopicPartition) -> Int64? {
        var low: Int64 = -1
        var high: Int64 = -1
        let code = unsafe rd_kafka_get_watermark_offsets(client, partition.topic, partition.partition, &low, &high)
        return code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : nil
    }

    private func check(_ code: rd_kafka_resp_err_t) throws(KafkaError) {
        if let error = KafkaError(failure: code) { throw error }
    }
}

/// librdkafka's list of partitions with an offset each.
// SAFETY: the list belongs to this value alone and is destroyed with it.
@safe struct PartitionList: ~Copyable {
    let list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(_ partitions: some Collection<TopicPartition>) throws(KafkaError) {
        self = try PartitionList(partitions.map { ($0, Int64(RD_KAFKA_OFFSET_INVALID)) })
    }

    init(_ offsets: [(TopicPartition, Int64)]) throws(KafkaError) {
        guard let list = unsafe rd_kafka_topic_partition_list_new(Int32(clamping: offsets.count)) else {
            throw KafkaError(.failure)
        }
        unsafe self.list = list
        for (partition, offset) in offsets {
            let element = unsafe rd_kafka_topic_partition_list_add(list, partition.topic, partition.partition)
            unsafe element?.pointee.offset = offset
        }
    }

    deinit {
        unsafe rd_kafka_topic_partition_list_destroy(list)
    }

    /// The offsets that the library filled in, with the error of each partition.
    var offsets: [(partition: TopicPartition, offset: Int64, error: KafkaError?)] {
        let elements = unsafe UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt))
        return unsafe elements.compactMap { element in
            guard let topic = unsafe element.topic else { return nil }
            let partition = unsafe TopicPartition(topic: String(cString: topic), partition: element.partition)
            return unsafe (partition, element.offset, KafkaError(failure: element.err))
        }
    }
}
