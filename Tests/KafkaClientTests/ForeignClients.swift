// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka
import Dispatch
import Foundation
import Synchronization
import TestTools

@testable import KafkaClient

/// A transactional producer, which the package does not have; its calls block.
final class Transaction: Sendable {
    enum End {
        case commit, abort
    }

    struct Failure: Error {
        let call: String
    }

    private let client: Client

    // SAFETY: a single test uses it, one call after the other.
    private struct Client: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    init(_ configuration: KafkaConfiguration) throws {
        let options = try ClientOptions()
        let settings = [
            "bootstrap.servers": configuration.bootstrapServers, "transactional.id": uniqueName("transaction-"),
            "transaction.timeout.ms": "60000",
        ]
        try options.set(settings, events: 0)
        client = Client(pointer: try options.makeClient(RD_KAFKA_PRODUCER, names: []))
        try check("init", rd_kafka_init_transactions(client.pointer, 20_000))
    }

    /// Writes records in a transaction, which stays open if `end` is nil.
    func write(_ count: Int, to topic: String, end: End?) throws {
        try check("begin", rd_kafka_begin_transaction(client.pointer))
        for _ in 0..<count {
            let code = courier_kafka_produce(client.pointer, topic, 0, nil, 0, "x", 1, nil, 0, nil)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw Failure(call: "produce") }
        }
        guard rd_kafka_flush(client.pointer, 10_000) == RD_KAFKA_RESP_ERR_NO_ERROR else { throw Failure(call: "flush") }
        if let end { try finish(end) }
    }

    func finish(_ end: End) throws {
        switch end {
        case .commit: try check("commit", rd_kafka_commit_transaction(client.pointer, 10_000))
        case .abort: try check("abort", rd_kafka_abort_transaction(client.pointer, 10_000))
        }
    }

    func close() { rd_kafka_destroy(client.pointer) }

    private func check(_ call: String, _ error: OpaquePointer?) throws {
        guard let error else { return }
        rd_kafka_error_destroy(error)
        throw Failure(call: call)
    }
}

/// A foreign member of a consumer group, whose own thread polls to keep its membership.
final class Stranger: Sendable {
    private let client: Client
    private let isLeaving = Atomic(false)
    private let hasLeft = DispatchSemaphore(value: 0)

    // SAFETY: the library allows the calls that are used from any thread.
    private struct Client: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// Adds a member to a group during the body.
    static func with(
        _ configuration: KafkaConfiguration,
        group: String,
        topic: String,
        assignor: String,
        _ body: () async throws -> Void
    ) async throws {
        let stranger = try Stranger(configuration, group: group, topic: topic, assignor: assignor)
        defer { stranger.leave() }
        try await eventually("the stranger is a member") { stranger.isMember }
        try await body()
    }

    private init(_ configuration: KafkaConfiguration, group: String, topic: String, assignor: String) throws {
        let options = try ClientOptions()
        let settings = [
            "bootstrap.servers": configuration.bootstrapServers, "group.id": group, "client.id": "billing",
            "partition.assignment.strategy": assignor, "session.timeout.ms": "6000",
        ]
        try options.set(settings, events: 0)
        let client = Client(pointer: try options.makeClient(RD_KAFKA_CONSUMER, names: []))
        self.client = client
        rd_kafka_poll_set_consumer(client.pointer)
        let list = try PartitionList([TopicPartition(topic: topic, partition: -1)])
        rd_kafka_subscribe(client.pointer, list.list)
        Thread { self.poll() }.start()
    }

    private func poll() {
        while !isLeaving.load(ordering: .relaxed) {
            if let message = rd_kafka_consumer_poll(client.pointer, 50) { rd_kafka_message_destroy(message) }
        }
        rd_kafka_consumer_close(client.pointer)
        rd_kafka_destroy(client.pointer)
        hasLeft.signal()
    }

    private var isMember: Bool {
        var assigned: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
        rd_kafka_assignment(client.pointer, &assigned)
        guard let assigned else { return false }
        defer { rd_kafka_topic_partition_list_destroy(assigned) }
        return assigned.pointee.cnt > 0
    }

    /// Leaves the group, and waits for that for ten seconds at most.
    private func leave() {
        isLeaving.store(true, ordering: .relaxed)
        _ = hasLeft.wait(timeout: .now() + 10)
    }
}
