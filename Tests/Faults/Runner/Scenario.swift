// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import Synchronization
import TestTools
import Testing
import Verification

/// One run of a fleet under faults, from its first worker to the verdict.
///
/// The body generates load and faults. Then the fleet runs undisturbed until it has answered everything, and the
/// checker verifies the history. Requests must be sent through the scenario; the checker counts all others as
/// unexpected.
final class Scenario: Sendable {
    /// The setup of a scenario's fleet.
    struct Plan: Sendable {
        var partitions = 3
        var brokers = 1
        var policy = TestPolicy.standard

        /// The mock cluster takes 3 s to form a group, and a member that waits for it must not time out.
        var sessionTimeout = Duration.seconds(4)

        /// Leases are as short as a call's deadline allows, so that dead workers' sends are claimed soon.
        var lease = Duration.seconds(5)
        var callDeadline = Duration.seconds(2)
        var repeatsUnknown = false
        var hasReceipts = false

        /// Minimum of rounds for the cells, even when the time of the quick run is over.
        var turns = 1

        /// Time for the remaining work after the faults.
        var quietTime = Duration.seconds(60)
        var settings: [String: String] = [:]
    }

    let name: String
    let fleet: TestFleet
    let plan: Plan

    /// Number of kills, requests or other units of the scenario: small in the quick run, large in the long one.
    let size: Int
    let seed: UInt64
    private let state: Mutex<State>

    private struct State {
        var dice: TestSeed
        var requests: [String: History.Request] = [:]
        var unreadable: [History.Place] = []
        var groups: [String: String] = [:]
        var faults = 0
        var notes: [String: Double] = [:]

        /// The rounds that the scenario's cells share.
        var turns: Rounds
    }

    private init(_ name: String, _ fleet: TestFleet, _ plan: Plan, size: Int, dice: TestSeed) {
        (self.name, self.fleet, self.plan, self.size, seed) = (name, fleet, plan, size, dice.seed)
        state = Mutex(State(dice: dice, turns: Rounds(size, atLeast: plan.turns)))
    }

    /// Runs a scenario and reports it; a violation fails the test.
    static func run(
        _ name: String,
        quick: Int,
        full: Int,
        plan: Plan = Plan(),
        _ body: (Scenario) async throws -> Void
    ) async throws {
        let dice = TestSeed(name)
        let size = Campaign.isFull ? full : quick
        let start = ContinuousClock.now
        try await TestFleet.with(
            partitions: plan.partitions,
            brokers: plan.brokers,
            // A repeat is sent to another provider.
            policy: plan.repeatsUnknown ? plan.policy.replacing("[main]", with: "[main, backup]") : plan.policy,
            sessionTimeout: plan.sessionTimeout,
            isInspected: false
        ) { fleet in
            if plan.repeatsUnknown { try fleet.addProvider("backup") }
            let scenario = Scenario(name, fleet, plan, size: size, dice: dice)
            try await SendAudit.install(in: fleet.database)
            try await body(scenario)
            let checker = Checker(try await scenario.history(), repeatsUnknown: plan.repeatsUnknown)
            try scenario.report(checker, seconds: (ContinuousClock.now - start) / .seconds(1))
            #expect(checker.violations.isEmpty, "COURIER_TEST_SEED=\(scenario.seed)")
        }
    }
}

// MARK: - For the body

extension Scenario {
    /// Makes random choices that the seed repeats.
    func withDice<Value>(_ body: (inout TestSeed) -> Value) -> Value {
        state.withLock { body(&$0.dice) }
    }

    func randomTime(below limit: Duration) -> Duration {
        limit * Double(withDice { $0.below(1_000_000) }) / 1_000_000
    }

    func countFaults(_ count: Int = 1) {
        state.withLock { $0.faults += count }
    }

    /// Takes one of the rounds that the cells share, and returns false when none is left or the time is over.
    func takeTurn() -> Bool {
        state.withLock { $0.turns.next() != nil }
    }

    /// Adds to a figure of the report.
    func note(_ name: String, _ value: Double) {
        state.withLock { $0.notes[name, default: 0] += value }
    }

    /// Sets a figure of the report to the maximum of its values.
    func noteLargest(_ name: String, _ value: Double) {
        state.withLock { $0.notes[name] = max($0.notes[name] ?? value, value) }
    }

    /// Starts a worker with the plan's settings, which `settings` override.
    ///
    /// The worker's database sessions carry its name, so that the audit can attribute each write.
    @discardableResult
    func startWorker(
        _ settings: [String: String] = [:],
        postgresURL: String? = nil,
        waiting: Bool = true
    ) async throws -> Worker {
        try await fleet.startWorker(environment(postgresURL).merging(settings) { $1 }, waiting: waiting)
    }

    /// Starts a worker of a new consumer group, which reads the requests' topic from the start.
    func startWorker(ofNewGroup group: String) async throws {
        state.withLock { $0.groups[fleet.topics.requests] = group }
        try await startWorker(["KAFKA_GROUP_ID": group])
    }

    func environment(_ postgresURL: String? = nil) -> [String: String] {
        let url = DatabaseURL(postgresURL ?? fleet.logins.workerURL)
        let environment = [
            "WORKER_LEASE": "\(plan.lease.microseconds / 1000)ms",
            "WORKER_CALL_DEADLINE": "\(plan.callDeadline.microseconds / 1000)ms",
            "WORKER_UNKNOWN_OUTCOME": plan.repeatsUnknown ? "resend_once" : "hold",
            "POSTGRES_URL": url.with(setting: SendAudit.writerSetting, value: uniqueName("worker-")).text,
        ]
        return environment.merging(plan.settings) { $1 }
    }

    /// Requests of `count` people, each with a different number.
    func makeRequests(_ count: Int) -> [TestRequest] {
        Numbers.take(count).map { TestRequest(phoneNumber: $0) }
    }

    /// Publishes requests; a request may be published several times.
    ///
    /// With `areRefused` no request may lead to a message.
    func send(_ requests: [TestRequest], topic: String? = nil, areRefused: Bool = false) async throws {
        let records = requests.map { request in
            var record = request.binary
            record.topic = topic
            return (request: request, record: record)
        }
        try await send(records, areRefused: areRefused)
    }

    /// Publishes prepared records of requests.
    func send(_ records: [(request: TestRequest, record: TestRecord)], areRefused: Bool = false) async throws {
        fleet.watch(records.map(\.request.phoneNumber))
        let places = try await places(of: records.map(\.record))
        state.withLock { state in
            for ((request, _), place) in zip(records, places) {
                var known = state.requests[request.id] ?? History.Request(id: request.id, number: request.phoneNumber)
                known.places.append(place)
                known.isRefused = areRefused
                state.requests[request.id] = known
            }
        }
    }

    /// Publishes records that are no valid requests and must become dead letters.
    func send(unreadable records: [TestRecord]) async throws {
        let places = try await places(of: records)
        state.withLock { $0.unreadable += places }
    }

    private func places(of records: [TestRecord]) async throws -> [History.Place] {
        zip(records, try await fleet.send(records)).map { record, place in
            History.Place(
                topic: record.topic ?? fleet.topics.requests,
                partition: place.partition,
                offset: place.offset
            )
        }
    }
}

// MARK: - For the runner

extension Scenario {
    var requests: [History.Request] { state.withLock { Array($0.requests.values) } }
    var unreadable: [History.Place] { state.withLock(\.unreadable) }

    /// The groups that replace the topics' initial groups.
    var groups: [String: String] { state.withLock(\.groups) }
    var faults: Int { state.withLock(\.faults) }
    var notes: [String: Double] { state.withLock(\.notes) }
}
