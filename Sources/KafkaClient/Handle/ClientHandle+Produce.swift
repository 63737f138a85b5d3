// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

extension ClientHandle {
    /// Queues a record; its delivery report carries the token.
    func produce(_ record: ProducerRecord, token: Int) throws(KafkaError) {
        let headers = unsafe Self.headers(record.headers)
        let code = unsafe Self.withBytes(record.key) { key in
            unsafe Self.withBytes(record.value) { value in
                unsafe courier_kafka_produce(
                    client,
                    record.topic,
                    record.partition ?? RD_KAFKA_PARTITION_UA,
                    key.baseAddress,
                    key.count,
                    value.baseAddress,
                    value.count,
                    headers,
                    record.timestamp ?? 0,
                    UnsafeMutableRawPointer(bitPattern: token)
                )
            }
        }
        guard let error = KafkaError(failure: code) else { return }
        // SAFETY: only a successful call passes the list of headers to the library. A failed one detaches the list from
        // the message that it destroys, so the list is freed here. The library's double free (below 2.12) affects only
        // headers that it built itself.
        if let headers = unsafe headers { unsafe rd_kafka_headers_destroy(headers) }
        throw error
    }

    /// The client's choice of partition for a non-empty key, by its default partitioner `consistent_random`.
    static func partition(of key: [UInt8], count: Int32) -> Int32 {
        unsafe key.withUnsafeBytes { key in
            unsafe rd_kafka_msg_partitioner_consistent(nil, key.baseAddress, key.count, count, nil, nil)
        }
    }

    /// Drops all records that were not acknowledged.
    func purge() {
        unsafe rd_kafka_purge(
            client,
            RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING
        )
    }

    /// The cause of the client's fatal error; nil without one.
    var fatalError: KafkaError.Code? {
        KafkaError(failure: unsafe rd_kafka_fatal_error(client, nil, 0))?.code
    }

    private static func headers(_ headers: [RecordHeader]) -> OpaquePointer? {
        guard !headers.isEmpty, let list = unsafe rd_kafka_headers_new(headers.count) else { return nil }
        for header in headers {
            unsafe withBytes(header.value) { value in
                _ = unsafe rd_kafka_header_add(list, header.name, -1, value.baseAddress, value.count)
            }
        }
        return unsafe list
    }

    /// Passes the bytes to `body`; an empty array has an address, unlike an absent one.
    private static func withBytes<Result>(_ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let bytes else { return unsafe body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        guard bytes.isEmpty else { return unsafe bytes.withUnsafeBytes { unsafe body($0) } }
        return unsafe withUnsafeBytes(of: UInt8(0)) { unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<0])) }
    }
}
