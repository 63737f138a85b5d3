// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Synchronization
import TestTools
import Testing
import Verification

/// One run of a fleet under faults, from its first worker to the verdict.
///
/// The body brings load and faults; then the fleet is left in peace until it has answered everything, and the checker
/// judges what really happened. Requests have to be sent through the scenario, or the checker takes them for nobody's.
final class Scenario: Sendable {
    /// How a scenario's fleet is set up.
    struct Plan: Sendable {
        var partitions = 3
        var brokers = 1
        var policy = TestPolicy.standard

        /// The mock cluster takes 3 s to start a group, in which a member that waits must not be taken for dead.
        var sessionTimeout = Duration.seconds(4)

        /// Leases are as short as a call's deadline allows, so that what dead workers held is taken over soon.
        var lease = Duration.seconds(5)
        var callDeadline = Duration.seconds(2)
        var repeatsUnknown = false
        var hasReceipts = false

        /// The rounds that cells take even when the time of the quick run is over.
        var turns = 1

        /// How long the fleet has for what is left when the faults are over.
        var quietTime = Duration.seconds(60)
        var settings: [String: String] = [:]
    }

    let name: String
    let fleet: TestFleet
    let plan: Plan

    /// Kills, requests or whatever the scenario counts: few in the quick run, many in the long one.
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

        /// The rounds that the cells of a scenario share.
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
            // A repeat goes to another provider.
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

// MARK: - What a body does

extension Scenario {
    /// Chances that the seed repeats.
    func withDice<Value>(_ body: (inout TestSeed) -> Value) -> Value {
        state.withLock { body(&$0.dice) }
    }

    /// A time between nothing and a limit.
    func randomTime(below limit: Duration) -> Duration {
        limit * Double(withDice { $0.below(1_000_000) }) / 1_000_000
    }

    /// Counts faults that were brought about.
    func countFaults(_ count: Int = 1) {
        state.withLock { $0.faults += count }
    }

    /// Takes one of the rounds that the scenario's cells share; false when all are taken or the time is over.
    func takeTurn() -> Bool {
        state.withLock { $0.turns.next() != nil }
    }

    /// Adds to a figure of the report.
    func note(_ name: String, _ value: Double) {
        state.withLock { $0.notes[name, default: 0] += value }
    }

    /// Raises a figure of the report.
    func noteLargest(_ name: String, _ value: Double) {
        state.withLock { $0.notes[name] = max($0.notes[name] ?? value, value) }
    }

    /// Starts a worker with the plan's settings; those given win.
    ///
    /// Sessions of the worker name it, so that the audit knows who wrote what.
    @discardableResult
    func startWorker(
        _ settings: [String: String] = [:],
        postgresURL: String? = nil,
        waiting: Bool = true
    ) async throws -> Worker {
        try await fleet.startWorker(environment(postgresURL).merging(settings) { $1 }, waiting: waiting)
    }

    /// Starts a worker of another group, which reads all there is of the requests' topic from its beginning.
    func startWorker(ofNewGroup group: String) async throws {
        state.withLock { $0.groups[fleet.topics.requests] = group }
        try await startWorker(["KAFKA_GROUP_ID": group])
    }

    /// The environment of one worker.
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

    /// Requests of as many people, each with a number of its own.
    func makeRequests(_ count: Int) -> [TestRequest] {
        Numbers.take(count).map { TestRequest(phoneNumber: $0) }
    }

    /// Puts requests on the topic; the same one may be given again.
    ///
    /// Those that `areRefused` may not lead to any message.
    func send(_ requests: [TestRequest], topic: String? = nil, areRefused: Bool = false) async throws {
        let records = requests.map { request in
            var record = request.binary
            record.topic = topic
            return (request: request, record: record)
        }
        try await send(records, areRefused: areRefused)
    }

    /// Puts records of requests on the topic, as they are.
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

    /// Puts records on the topic that are requests of nobody and have to become dead letters.
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

// MARK: - What the runner reads

extension Scenario {
    var requests: [History.Request] { state.withLock { Array($0.requests.values) } }
    var unreadable: [History.Place] { state.withLock(\.unreadable) }

    /// The groups that have taken over from those that the topics began with.
    var groups: [String: String] { state.withLock(\.groups) }
    var faults: Int { state.withLock(\.faults) }
    var notes: [String: Double] { state.withLock(\.notes) }
}
