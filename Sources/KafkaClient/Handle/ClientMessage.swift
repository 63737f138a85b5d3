// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka
import Glibc

/// A message inside an event, to be copied out immediately.
// SAFETY: valid only inside `ClientEvent.forEachMessage`, which lends it.
@safe package struct ClientMessage: ~Copyable {
    private let message: UnsafePointer<rd_kafka_message_t>

    init(_ message: UnsafePointer<rd_kafka_message_t>) {
        unsafe self.message = message
    }

    /// The reason why there is no record, or why a record was not delivered.
    var error: KafkaError? {
        KafkaError(failure: unsafe message.pointee.err)
    }

    var partition: Int32 { unsafe message.pointee.partition }

    var offset: Int64 { unsafe message.pointee.offset }

    /// The token that was passed with a produced record.
    var token: Int { unsafe Int(bitPattern: message.pointee._private) }

    /// Copies the record; nil when the message is an error.
    package func record(_ names: inout TopicNames) -> ConsumerRecord? {
        guard error == nil, let topic = unsafe message.pointee.rkt else { return nil }
        var timestampType = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        return unsafe ConsumerRecord(
            topic: names.name(of: topic),
            partition: message.pointee.partition,
            offset: message.pointee.offset,
            timestamp: rd_kafka_message_timestamp(message, &timestampType),
            key: Self.bytes(message.pointee.key, count: message.pointee.key_len),
            value: Self.bytes(message.pointee.payload, count: message.pointee.len),
            headers: headers
        )
    }

    /// True when the record has its producer's time.
    var isTimedByProducer: Bool {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        _ = unsafe rd_kafka_message_timestamp(message, &type)
        return type == RD_KAFKA_TIMESTAMP_CREATE_TIME
    }

    private var headers: [RecordHeader] {
        var list: OpaquePointer?
        guard unsafe rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list = unsafe list
        else { return [] }
        let count = unsafe rd_kafka_header_cnt(list)
        var headers: [RecordHeader] = []
        headers.reserveCapacity(count)
        for index in 0..<count {
            var name: UnsafePointer<CChar>?
            var value: UnsafeRawPointer?
            var size = 0
            let code = unsafe rd_kafka_header_get_all(list, index, &name, &value, &size)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let name = unsafe name else { continue }
            unsafe headers.append(RecordHeader(name: String(cString: name), value: Self.bytes(value, count: size)))
        }
        return headers
    }

    private static func bytes(_ start: UnsafeRawPointer?, count: Int) -> [UInt8]? {
        guard let start = unsafe start else { return nil }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// The names of topics seen so far, so that a record needs no new string.
package struct TopicNames {
    private var names: [String] = []

    package init() {}

    mutating func name(of topic: OpaquePointer) -> String {
        // SAFETY: the name lives as long as the topic, which the message that is being read keeps.
        guard let characters = unsafe rd_kafka_topic_name(topic) else { return "" }
        if let name = names.first(where: { unsafe strcmp($0, characters) == 0 }) { return name }
        let name = unsafe String(cString: characters)
        names.append(name)
        return name
    }
}
