// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

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
