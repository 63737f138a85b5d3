// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Foundation
import TestSupport
import TestTools
import Testing

/// Tests faults of a real Apache Kafka, on the cluster that `make test-kafka` has started.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ApacheKafkaTests {
    @Test func `brokers that are killed one after the other lose and double nothing`() async throws {
        try await TestFleet.with(partitions: 4) { fleet in
            _ = try await fleet.startWorker()
            _ = try await fleet.startWorker()
            var requests: [TestRequest] = []
            let nodes = fleet.cluster.bootstrapServers.split(separator: ",").count
            for node in 1...nodes {
                requests += try await send(40, fleet)
                try await kafka("kill-node", node, fleet)
                if nodes > 1 { requests += try await send(40, fleet) }
                try await kafka("start-node", node, fleet)
                requests += try await send(40, fleet)
            }
            try await expectOne(of: requests, fleet)
        }
    }

    @Test func `a worker that is killed and starts again halts the others for less than 5 s, and so does a new one`()
        async throws
    {
        try await TestFleet.with(partitions: 4) { fleet in
            let doomed = try await fleet.startWorker()
            let survivor = try await fleet.startWorker()
            try await eventually("both have partitions") {
                doomed.logged.contains("kafka.revoked") && survivor.logged.contains("kafka.assigned")
            }
            try await doomed.crash()
            let restarted = try await halt(of: survivor, "a killed worker restarts") {
                _ = try await fleet.startWorker([:], waiting: false)
            }
            #expect(restarted < .seconds(5), "halted \(restarted)")
            let joined = try await halt(of: survivor, "a worker joins") {
                _ = try await fleet.startWorker([:], waiting: false)
            }
            #expect(joined < .seconds(5), "halted \(joined)")
            try await expectOne(of: try await send(40, fleet), fleet)
        }
    }

    /// The time that a worker has no partitions during the rebalance that `body` causes.
    private func halt(of worker: Worker, _ cause: String, _ body: () async throws -> Void) async throws -> Duration {
        let assignments = worker.logged.count { $0 == "kafka.assigned" }
        try await body()
        try await worker.waitForLog("kafka.revoked", times: assignments)
        let revoked = ContinuousClock.now
        try await worker.waitForLog("kafka.assigned", times: assignments + 1)
        let halt = ContinuousClock.now - revoked
        print("\(cause): the other one stood still for \(halt)")
        return halt
    }

    private func send(_ count: Int, _ fleet: TestFleet) async throws -> [TestRequest] {
        let requests = Numbers.take(count).map { TestRequest(phoneNumber: $0) }
        try await fleet.send(requests)
        return requests
    }

    private func expectOne(of requests: [TestRequest], _ fleet: TestFleet) async throws {
        _ = try await fleet.events(of: requests.map(\.id), within: .seconds(60))
        let ids = Set(requests.map(\.id))
        let events = try await fleet.allEvents(after: .seconds(2)).filter { ids.contains($0.body.requestId) }
        let answers = Dictionary(grouping: events, by: \.body.requestId).mapValues { Set($0.map(\.id)).count }
        #expect(answers.count == requests.count && answers.values.allSatisfy { $0 == 1 })
        #expect(events.allSatisfy { $0.answer == Answer("sent") })
        let messages = fleet.messages
        #expect(requests.allSatisfy { messages[$0.phoneNumber]?.count == 1 })
    }

    /// Runs `deploy/local/kafka.sh` on the tests' cluster.
    private func kafka(_ command: String, _ node: Int, _ fleet: TestFleet) async throws {
        let variables = ProcessInfo.processInfo.environment
        let root = Repository.root
        let program = try Program(
            [command, try #require(variables["COURIER_TEST_KAFKA_CLUSTER"]), String(node)],
            executable: root.appending(path: "deploy/local/kafka.sh").standardizedFileURL.path,
            environment: ["KAFKA_HOME": try #require(variables["KAFKA_HOME"])],
            folder: fleet.folder
        )
        #expect(try await program.exit(within: .seconds(90)) == .code(0), "\(program.errors)")
    }
}
