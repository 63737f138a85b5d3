// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import TestTools
import Testing

/// A separate topic and consumer group for a few workers, in the fleet's cluster and database.
///
/// Many workers can each handle their own request at once, without depending on the assignment of partitions, and a
/// group that waits for a dead member delays no other group.
struct Cell: Sendable {
    let topic: String
    let scenario: Scenario

    private var receipts: String { "\(topic).receipts" }

    /// Starts a worker of the cell and waits for its partition.
    func startWorker(_ settings: [String: String] = [:], postgresURL: String? = nil) async throws -> Worker {
        let worker = try await startJoining(settings, postgresURL: postgresURL)
        try await worker.waitForLog("kafka.assigned")
        return worker
    }

    /// Starts a worker of the cell without waiting for it to join its group.
    func startJoining(_ settings: [String: String] = [:], postgresURL: String? = nil) async throws -> Worker {
        let own = [
            "KAFKA_TOPICS_REQUESTS": topic, "KAFKA_TOPICS_RECEIPTS": receipts, "KAFKA_GROUP_ID": "\(topic).group",
        ]
        return try await scenario.startWorker(
            settings.merging(own) { $1 },
            postgresURL: postgresURL,
            waiting: false
        )
    }

    func send(_ requests: [TestRequest]) async throws {
        try await scenario.send(requests, topic: topic)
    }

    /// Publishes a receipt that reports the message of a sent request as delivered.
    func sendReceipt(of request: TestRequest) async throws {
        let events = try await scenario.fleet.events(of: [request.id])
        let send = try #require(events.first?.body.send)
        let receipt = #"{"provider":"main","sendId":"\#(send.id)","status":"delivered"}"#
        var record = TestRecord(key: send.id, value: Array(receipt.utf8))
        record.topic = receipts
        try await scenario.fleet.send([record])
    }

    fileprivate static func make(in scenario: Scenario, partitions: Int) async throws -> Cell {
        let cell = Cell(topic: uniqueName("\(scenario.fleet.topics.requests)."), scenario: scenario)
        for topic in [cell.topic, cell.receipts] {
            try await scenario.fleet.cluster.makeTopic(topic, partitions: partitions)
        }
        return cell
    }
}

extension Scenario {
    func makeCells(_ count: Int, partitions: Int = 1) async throws -> [Cell] {
        var cells: [Cell] = []
        for _ in 0..<count { cells.append(try await Cell.make(in: self, partitions: partitions)) }
        return cells
    }

    func inParallel(_ cells: [Cell], _ body: @escaping @Sendable (Cell) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for cell in cells { group.addTask { try await body(cell) } }
            try await group.waitForAll()
        }
    }

    /// Publishes one request in each cell, all at once.
    func send(_ requests: [TestRequest], to cells: [Cell]) async throws {
        try await send(
            zip(requests, cells).map { request, cell in
                var record = request.binary
                record.topic = cell.topic
                return (request: request, record: record)
            }
        )
    }

    /// Starts a worker in every cell, waits for its decisions and stops it.
    func restart(_ cells: [Cell]) async throws {
        var workers: [Worker] = []
        for cell in cells { workers.append(try await cell.startJoining()) }
        do {
            _ = try await fleet.events(of: requests.map(\.id), within: plan.quietTime)
        } catch is TimedOut {
            // The checker reports lost requests.
        }
        for worker in workers { try await worker.stop() }
    }
}
