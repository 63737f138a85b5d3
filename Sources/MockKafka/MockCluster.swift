// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka
package import KafkaClient
import Synchronization

/// librdkafka's own Kafka cluster inside the process, for demonstrations and tests.
///
/// It listens on 127.0.0.1, so other processes can use it, too. It keeps everything in memory, supports no admin
/// requests (`createTopic` makes topics, or their first use does) and needs 3 s to start a group.
package final class MockCluster: Sendable {
    /// A kind of request, by its number in the Kafka protocol.
    package struct RequestKind: RawRepresentable, Hashable, Sendable {
        package let rawValue: Int16

        package init(rawValue: Int16) {
            self.rawValue = rawValue
        }

        package static let produce = RequestKind(rawValue: 0)
        package static let fetch = RequestKind(rawValue: 1)
        package static let metadata = RequestKind(rawValue: 3)
        package static let offsetCommit = RequestKind(rawValue: 8)
        package static let heartbeat = RequestKind(rawValue: 12)
    }

    package let bootstrapServers: String

    private let cluster: Mutex<MockClusterHandle?>

    /// Starts the brokers, numbered from 1.
    package init(brokers: Int) throws(KafkaError) {
        let handle = try MockClusterHandle(brokers: brokers)
        bootstrapServers = handle.bootstrapServers
        cluster = Mutex(handle)
    }

    /// Creates a topic; every broker has a replica of it.
    package func createTopic(_ name: String, partitions: Int) throws(KafkaError) {
        try unsafe perform { unsafe rd_kafka_mock_topic_create($0, name, Int32(clamping: partitions), 1) }
    }

    /// Answers the next requests of a kind with errors, one after the other; `.transport` cuts the connection.
    package func pushErrors(_ kind: RequestKind, _ errors: [KafkaError.Code]) throws(KafkaError) {
        let codes = errors.map { rd_kafka_resp_err_t(rawValue: $0.rawValue) }
        try unsafe perform { cluster in
            unsafe rd_kafka_mock_push_request_errors_array(cluster, kind.rawValue, codes.count, codes)
            return RD_KAFKA_RESP_ERR_NO_ERROR
        }
    }

    /// Makes a broker unreachable, or all of them for nil.
    package func brokerDown(_ broker: Int32? = nil) throws(KafkaError) {
        try unsafe perform { unsafe rd_kafka_mock_broker_set_down($0, broker ?? -1) }
    }

    package func delayAnswers(of broker: Int32, by delay: Duration) throws(KafkaError) {
        let milliseconds = Int32(clamping: Int64(delay / .milliseconds(1)))
        try unsafe perform { unsafe rd_kafka_mock_broker_set_rtt($0, broker, milliseconds) }
    }

    /// Makes a broker reachable again, or all of them for nil.
    package func brokerUp(_ broker: Int32? = nil) throws(KafkaError) {
        try unsafe perform { unsafe rd_kafka_mock_broker_set_up($0, broker ?? -1) }
    }

    /// Makes a broker the leader of a partition; nil leaves the partition without one.
    package func setLeader(of topic: String, _ partition: Int32, to broker: Int32?) throws(KafkaError) {
        try unsafe perform { unsafe rd_kafka_mock_partition_set_leader($0, topic, partition, broker ?? -1) }
    }

    /// Moves a group's coordinator to another broker, which the members must find.
    package func moveCoordinator(of group: String, to broker: Int32) throws(KafkaError) {
        try unsafe perform { unsafe rd_kafka_mock_coordinator_set($0, "group", group, broker) }
    }

    /// Stops the brokers; later calls throw `.closed`.
    package func close() {
        let handle = cluster.withLock { $0.take() }
        _ = consume handle
    }

    private func perform(_ body: (OpaquePointer) -> rd_kafka_resp_err_t) throws(KafkaError) {
        let failure: KafkaError? = cluster.withLock { handle in
            guard let code = unsafe handle?.perform(body) else { return KafkaError(.closed) }
            return code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(KafkaError.Code(rawValue: code.rawValue))
        }
        if let failure { throw failure }
    }
}

/// The cluster and the client that hosts it.
// SAFETY: both pointers belong to this value alone, which one thread at a time reaches through the cluster's mutex;
// `deinit` destroys the cluster before its host.
@safe private struct MockClusterHandle: ~Copyable, @unchecked Sendable {
    private let host: OpaquePointer
    private let cluster: OpaquePointer

    init(brokers: Int) throws(KafkaError) {
        let options = unsafe rd_kafka_conf_new()
        // The library's own log lines would mix with the program's.
        unsafe rd_kafka_conf_set_log_cb(options, nil)
        guard let host = unsafe rd_kafka_new(RD_KAFKA_PRODUCER, options, nil, 0) else {
            unsafe rd_kafka_conf_destroy(options)
            throw KafkaError(.failure)
        }
        guard let cluster = unsafe rd_kafka_mock_cluster_new(host, Int32(clamping: max(brokers, 1))) else {
            unsafe rd_kafka_destroy(host)
            throw KafkaError(.failure)
        }
        unsafe (self.host, self.cluster) = (host, cluster)
    }

    var bootstrapServers: String {
        unsafe rd_kafka_mock_cluster_bootstraps(cluster).map { unsafe String(cString: $0) } ?? ""
    }

    func perform(_ body: (OpaquePointer) -> rd_kafka_resp_err_t) -> rd_kafka_resp_err_t {
        unsafe body(cluster)
    }

    deinit {
        unsafe rd_kafka_mock_cluster_destroy(cluster)
        unsafe rd_kafka_destroy(host)
    }
}
