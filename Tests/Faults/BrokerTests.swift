// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import KafkaClient
import KafkaSupport
import MockKafka
import Sandbox
import TestSupport
import TestTools
import Testing
import Verification

extension Outage {
    @Suite struct BrokerFaults {
        /// The provider answers only after the broker is gone, so every outcome is recorded without a broker.
        @Test func `the broker is gone while accepted sends go out`() async throws {
            let plan = Scenario.Plan(lease: .seconds(30), callDeadline: .seconds(10), quietTime: .seconds(120))
            try await Scenario.run("broker_down", quick: 8, full: 120, plan: plan) { scenario in
                let mock = try #require(scenario.fleet.cluster.mock)
                let worker = try await scenario.startWorker()
                let requests = scenario.makeRequests(200)
                scenario.fleet.sandbox.add(.status(503, code: nil, retryAfter: nil), times: -1)
                try await scenario.send(requests)
                try await eventually("every request is accepted", within: .seconds(60)) {
                    try await scenario.fleet.database.count("SELECT count(*) FROM courier.send") == requests.count
                }
                try mock.brokerDown()
                scenario.fleet.sandbox.clearFaults()
                scenario.countFaults()
                try await eventually("accepted sends go out without a broker", within: .seconds(60)) {
                    try await scenario.fleet.database.count(
                        "SELECT count(*) FROM courier.parcel"
                    ) == 0
                }
                scenario.note("sent_without_broker", Double(scenario.fleet.messages.count))
                let before = try #require(worker.program.figures)
                let start = ContinuousClock.now
                // The period for which processor time is measured.
                try await Task.sleep(for: .seconds(scenario.size))
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                let after = try #require(worker.program.figures)
                let share = (after.processorTime - before.processorTime) / seconds
                scenario.note("processor_share", share)
                // In a short run the messages' own processor time may still count.
                #expect(share < 0.05 + 1 / seconds)

                try mock.brokerUp()
                let back = ContinuousClock.now
                _ = try await scenario.fleet.events(of: requests.map(\.id), within: .seconds(120))
                scenario.note("catch_up_seconds", (ContinuousClock.now - back) / .seconds(1))
            }
        }

        @Test func `the group's coordinator moves every second`() async throws {
            let plan = Scenario.Plan(brokers: 3)
            try await Scenario.run("coordinator_moves", quick: 8, full: 120, plan: plan) { scenario in
                let mock = try #require(scenario.fleet.cluster.mock)
                for _ in 0..<2 { try await scenario.startWorker(waiting: false) }
                for move in scenario.rounds(atLeast: plan.brokers) {
                    try await scenario.send(scenario.makeRequests(20))
                    try mock.moveCoordinator(of: "\(scenario.fleet.topics.requests).group", to: Int32(move % 3 + 1))
                    scenario.countFaults()
                    // Interval between two moves.
                    try await Task.sleep(for: .seconds(1))
                }
            }
        }

        /// The requests are published before the errors start, so that the workers' producers get the errors.
        @Test func `brokers refuse events, or end connections on which events are under way`() async throws {
            try await Scenario.run("produce_errors", quick: 6, full: 60) { scenario in
                let mock = try #require(scenario.fleet.cluster.mock)
                scenario.fleet.sandbox.add(.delay(.seconds(1)), times: -1)
                for _ in 0..<2 { try await scenario.startWorker() }
                let errors: [KafkaError.Code] = [
                    .notLeader, .requestTimedOut, .outOfOrderSequence, .transport, .notEnoughReplicasAfterAppend,
                    .leaderNotAvailable,
                ]
                for round in scenario.rounds(atLeast: errors.count) {
                    let requests = scenario.makeRequests(40)
                    try await scenario.send(requests)
                    let error = errors[round % errors.count]
                    try mock.pushErrors(.produce, [error, error, error])
                    scenario.countFaults(3)
                    if error == .transport {
                        try await scenario.waitForCalls(0)
                        // Calls take a second, so their events are now about to be published or in flight.
                        try await Task.sleep(for: .milliseconds(1000) + scenario.randomTime(below: .milliseconds(200)))
                        try mock.brokerDown()
                        // Gives the producers time to lose their connections and retry in vain.
                        try await Task.sleep(for: .milliseconds(300))
                        try mock.brokerUp()
                    }
                    _ = try await scenario.fleet.events(of: requests.map(\.id), within: .seconds(60))
                }
            }
        }

        @Test func `the producer's queue is full while the broker is gone`() async throws {
            try await Scenario.run("queue_full", quick: 1, full: 10) { scenario in
                let mock = try #require(scenario.fleet.cluster.mock)
                try scenario.fleet.setKafkaOption("queue.buffering.max.messages", "10")
                scenario.fleet.sandbox.add(.delay(.seconds(1)), times: -1)
                try await scenario.startWorker()
                for _ in scenario.rounds() {
                    let requests = scenario.makeRequests(200)
                    try await scenario.waitForCalls(1, sending: requests)
                    try mock.brokerDown()
                    scenario.countFaults()
                    // Calls take a second each, and then their events fill the queue of ten, which nothing empties.
                    try await Task.sleep(for: .seconds(4))
                    try mock.brokerUp()
                    _ = try await scenario.fleet.events(of: requests.map(\.id), within: .seconds(60))
                }
            }
        }

        @Test func `commits are refused while the group is on the move`() async throws {
            let plan = Scenario.Plan(partitions: 6)
            try await Scenario.run("commits_refused", quick: 3, full: 40, plan: plan) { scenario in
                let mock = try #require(scenario.fleet.cluster.mock)
                for _ in 0..<2 { try await scenario.startWorker(waiting: false) }
                var watch = CommitWatch()
                let errors: [KafkaError.Code] = [
                    .rebalanceInProgress, .rebalanceInProgress, .unknownMember, .coordinatorNotAvailable, .transport,
                    .illegalGeneration, .notCoordinator,
                ]
                // One round starts a worker, and the next round stops it.
                for round in scenario.rounds(atLeast: 2) {
                    for _ in 0..<6 {
                        let refusals = scenario.withDice { dice in (0..<dice.below(3)).map { _ in dice.pick(errors) } }
                        try mock.pushErrors(.offsetCommit, refusals)
                        scenario.countFaults(refusals.count)
                        // One commit covers many records, so a successful commit has consumed all injected errors.
                        try await eventually("a commit goes through", within: .seconds(60)) {
                            try await scenario.send(scenario.makeRequests(6))
                            // Interval between two batches of requests.
                            try await Task.sleep(for: .milliseconds(100))
                            return try await watch.look(at: scenario)
                        }
                    }
                    let running = scenario.fleet.workers.filter(\.program.isRunning)
                    if round % 2 == 0 {
                        try await scenario.startWorker(waiting: false)
                    } else {
                        try await scenario.withDice { $0.pick(running) }.stop()
                    }
                }
                _ = try await scenario.fleet.events(of: scenario.requests.map(\.id), within: .seconds(300))
                // Later commits make up for the refused ones.
                try await eventually("every partition is committed", within: .seconds(60)) {
                    try await scenario.send(scenario.makeRequests(6))
                    try await watch.look(at: scenario)
                    return watch.committed.count == plan.partitions
                }
                scenario.note("looks", Double(watch.looks))
                scenario.note("committed", Double(watch.committed.values.reduce(0, +)))
            }
        }
    }
}

/// Tracks the group's committed offsets: they must not fall, nor pass a record that is not in the database.
private struct CommitWatch {
    private(set) var committed: [Int32: Int64] = [:]
    private(set) var looks = 0

    /// Reads the committed offsets, and returns true when a commit has succeeded since the last call.
    @discardableResult
    mutating func look(at scenario: Scenario) async throws -> Bool {
        let newest = try await scenario.fleet.committedOffsets()
        // The database is read after the offsets, so it can only contain more than at the time of the commit.
        let known = Set(try await scenario.fleet.database.texts("SELECT key::text FROM courier.request"))
        for (partition, offset) in newest {
            #expect(offset >= committed[partition] ?? 0, "the committed offset of partition \(partition) falls")
        }
        let hasMoved = newest != committed
        committed.merge(newest) { $1 }
        for request in scenario.requests {
            let key = RequestKey(tenant: "default", requestID: request.id).digest.description
            for place in request.places where place.offset < newest[place.partition] ?? 0 {
                #expect(known.contains(key), "\(place) is committed, and its request nowhere")
            }
        }
        looks += 1
        return hasMoved
    }
}
