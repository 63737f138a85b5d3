// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Logging
import SettingsReading
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Health")
struct HealthTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private static func state(
        at clock: Int64 = 100_000_000,
        standing: [String: Int] = [:],
        waitingFor: [WorkerState.Need] = [],
        isStopping: Bool = false
    ) -> WorkerState {
        WorkerState(
            time: "2026-11-21T08:00:00.000Z",
            clock: MonotonicTime(microseconds: clock),
            process: 7,
            policyVersion: "test.1",
            standing: standing,
            maxWait: 30,
            waitingFor: waitingFor,
            isStopping: isStopping
        )
    }

    private func verdict(_ state: WorkerState, after microseconds: Int64 = 1_000_000) -> [Bool] {
        let verdict = HealthVerdict(of: state, at: MonotonicTime(microseconds: 100_000_000 + microseconds))
        return [verdict.isLive, verdict.isReady]
    }

    @Test func `a worker is ready when it waits for nothing, and live as long as it makes progress`() {
        #expect(verdict(Self.state()) == [true, true])
        #expect(verdict(Self.state(waitingFor: [.kafka])) == [true, false])
        #expect(verdict(Self.state(waitingFor: [.postgres])) == [true, false])
        #expect(verdict(Self.state(isStopping: true)) == [true, false])
        #expect(verdict(Self.state(standing: ["intake": 29])) == [true, true])
        #expect(verdict(Self.state(standing: ["intake": 30])) == [false, false])
    }

    @Test func `a state that is old or from before a restart is a dead worker's`() {
        #expect(verdict(Self.state(), after: 15_000_000) == [true, true])
        #expect(verdict(Self.state(), after: 15_000_001) == [false, false])
        #expect(verdict(Self.state(), after: -1) == [false, false])
        #expect(verdict(Self.state(at: .min)) == [false, false])
    }

    @Test func `a verdict says in one line what is the matter`() {
        let now = MonotonicTime(microseconds: 100_250_000)
        let waiting = HealthVerdict(of: Self.state(waitingFor: [.kafka, .postgres]), at: now)
        #expect(
            String(decoding: waiting.json(), as: UTF8.self)
                == #"{"live":true,"ready":false,"summary":"waiting for kafka, postgres","age_ms":250}"#
        )
        let late = HealthVerdict(of: Self.state(standing: ["record": 31, "tasks": 3, "intake": 40]), at: now)
        #expect(late.text == "not live, not ready: intake, record made no progress for 30 s or longer")
        #expect(HealthVerdict(of: Self.state(), at: now).text == "live, ready: at work, policy test.1")
    }

    @Test func `a topic that cannot be used is told by its name, and what an older worker wrote is read`() throws {
        var state = Self.state(waitingFor: [.postgres])
        state.topicFaults = ["cannot publish to deliveries (too few in sync)"]
        #expect(verdict(state) == [true, false])
        #expect(state.summary == "cannot publish to deliveries (too few in sync), waiting for postgres")
        state.waitingFor = []
        #expect(verdict(state) == [true, false])
        state.topicFaults = []
        #expect(verdict(state) == [true, true])
        state.topicFaults = nil
        let json = try state.json()
        #expect(!String(decoding: json, as: UTF8.self).contains("topicFaults"))
        #expect(WorkerState(json: json) == state)
    }

    @Test func `a route without a provider is told, and the worker stays ready`() throws {
        var state = Self.state()
        state.deadProviders = ["backup (503)", "main (connection_refused)"]
        #expect(verdict(state) == [true, true])
        #expect(state.summary == "at work, no provider accepts: backup (503), main (connection_refused)")
        #expect(WorkerState(json: try state.json()) == state)
        state.waitingFor = [.postgres]
        #expect(state.summary == "waiting for postgres")
        state = Self.state()
        #expect(!String(decoding: try state.json(), as: UTF8.self).contains("deadProviders"))
    }

    @Test func `a state is read as it was written, and nothing else is left in the folder`() throws {
        let file = HealthFile(path: "\(folder.path)/health")
        let missing = file.verdict(at: .now)
        #expect(missing.text == "not live, not ready: the health file cannot be read: there is no such file")
        for count in 1...3 {
            let state = Self.state(standing: ["intake": count], waitingFor: [.postgres])
            try file.write(try state.json())
            #expect(try file.state() == state)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["health"])
        file.remove()
        #expect(throws: TextFile.Unreadable.self) { try file.state() }
    }

    @Test(arguments: ["", "{", "{}", "[1]", #"{"clock":"x"}"#, String(repeating: "[", count: 60_000)])
    func `a file that holds no state is a dead worker's`(text: String) throws {
        let path = try folder.write(text, to: "health")
        let verdict = HealthFile(path: path).verdict(at: .now)
        #expect(verdict.text == "not live, not ready: the health file holds no state of a worker")
    }

    @Test func `a link in the place of the next state is not followed`() throws {
        let victim = try folder.write("mine", to: "victim")
        try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/health.next", withDestinationPath: victim)
        #expect(throws: HealthFile.Failure.self) { try HealthFile(path: "\(folder.path)/health").write([1]) }
        #expect(FileManager.default.contents(atPath: victim) == Data("mine".utf8))
    }

    @Test func `a heartbeat writes at once what it knows, then what is seen, and takes it away in the end`() throws {
        let path = "\(folder.path)/health"
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let heartbeat = try Heartbeat(path: path, environment: [:], logger: quiet)
        let file = HealthFile(path: path)
        #expect(try file.state().waitingFor == [.postgres, .kafka])
        heartbeat.observe(standing: ["intake": 1], waitingFor: [], policyVersion: "test.2")
        #expect(try file.state().standing == ["intake": 1])
        #expect(try file.state().policyVersion == "test.2")
        #expect(file.verdict(at: .now).isReady)
        heartbeat.stop()
        heartbeat.observe(standing: [:], waitingFor: [], policyVersion: "test.2")
        #expect(try file.state().isStopping)
        heartbeat.end()
        #expect(throws: TextFile.Unreadable.self) { try file.state() }
    }

    @Test func `a path that cannot be written stops the start`() {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        #expect(throws: HealthFile.Failure.self) {
            try Heartbeat(path: "\(folder.path)/nowhere/health", environment: [:], logger: quiet)
        }
    }

    @Test func `a probe needs the one key and no others`() throws {
        let path = try folder.write("worker: { healthPath: run/health }", to: "courier.yaml")
        #expect(
            try CourierConfiguration.loadHealthPath(path: path, environment: [:]).get() == "\(folder.path)/run/health"
        )
        let variable = ["WORKER_HEALTH_PATH": "/run/health"]
        #expect(try CourierConfiguration.loadHealthPath(path: path, environment: variable).get() == "/run/health")
        let faulty = try folder.write("worker: { healthPath: /run/h, batchsize: 5 }", to: "faulty.yaml")
        #expect(try CourierConfiguration.loadHealthPath(path: faulty, environment: [:]).get() == "/run/h")
        guard case .failure(let faults) = CourierConfiguration.loadHealthPath(path: nil, environment: [:]) else {
            Issue.record("no path was taken for one")
            return
        }
        #expect(faults.description.hasPrefix("environment: worker.healthPath: is required"))
    }

    @Test func `a worker writes no state unless it is told where`() throws {
        #expect(try folder.load(ExampleFiles.smallest).get().worker.healthPath == nil)
        let text = ExampleFiles.smallest + "\nworker: { healthPath: /run/code-courier/health }"
        #expect(try folder.load(text).get().worker.healthPath == "/run/code-courier/health")
    }
}
