// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Logging
import TestSupport
import TestTools
import Testing

@testable import CodeCourier

@Suite("Service manager")
struct ServiceManagerTests {
    private static func state(_ waitingFor: [WorkerState.Need] = [], late: Bool = false) -> WorkerState {
        WorkerState(
            time: "",
            clock: .now,
            process: 7,
            policyVersion: "test.1",
            standing: ["intake": late ? 30 : 2],
            maxWait: 30,
            waitingFor: waitingFor,
            isStopping: false
        )
    }

    @Test func `a start waits for what is needed, asks for time while it makes progress, and is over once`() {
        var notices = ServiceNotices()
        #expect(
            notices.observe(Self.state([.kafka])) == [
                "EXTEND_TIMEOUT_USEC=30000000", "WATCHDOG=1", "STATUS=waiting for kafka",
            ]
        )
        #expect(notices.observe(Self.state([.kafka])) == ["EXTEND_TIMEOUT_USEC=30000000", "WATCHDOG=1"])
        let stalled = notices.observe(Self.state([.kafka], late: true))
        #expect(stalled == ["STATUS=intake made no progress for 30 s or longer"])
        let ready = ["READY=1", "WATCHDOG=1", "STATUS=at work, policy test.1"]
        #expect(notices.observe(Self.state()) == ready)
        #expect(notices.observe(Self.state()) == ["WATCHDOG=1"])
    }

    @Test func `the watchdog hears nothing from a worker that does not get on`() {
        var notices = ServiceNotices()
        _ = notices.observe(Self.state())
        #expect(notices.observe(Self.state(late: true)) == ["STATUS=intake made no progress for 30 s or longer"])
        #expect(notices.observe(Self.state(late: true)) == [])
        #expect(notices.observe(Self.state()) == ["WATCHDOG=1", "STATUS=at work, policy test.1"])
        // An unavailable dependency is no reason to restart the worker.
        #expect(notices.observe(Self.state([.postgres])) == ["WATCHDOG=1", "STATUS=waiting for postgres"])
    }

    @Test func `a reload is told with its time, and only of a worker that has started and is not stopping`() {
        var notices = ServiceNotices()
        let now = MonotonicTime(microseconds: 5)
        #expect(notices.beginReload(at: now) + notices.endReload() == [])
        _ = notices.observe(Self.state())
        #expect(notices.beginReload(at: now) == ["RELOADING=1", "MONOTONIC_USEC=5"])
        #expect(notices.endReload() == ["READY=1"])
        #expect(notices.stop() == ["STOPPING=1", "STATUS=stopping"])
        #expect(notices.beginReload(at: now) + notices.endReload() == [])
    }

    @Test func `a stop before the start is over does not make it ready`() {
        var notices = ServiceNotices()
        _ = notices.stop()
        #expect(notices.observe(Self.state()).contains("READY=1") == false)
    }

    /// Runs with a path and with an abstract socket name.
    @Test(arguments: [false, true])
    func `messages arrive at the socket that the environment names`(isAbstract: Bool) throws {
        let folder = try ScratchFolder()
        let name = isAbstract ? "@\(folder.path)" : "\(folder.path)/notify"
        let socket = try NotifySocket(name)
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": name]))
        try manager.send(["READY=1", "STATUS=at work"])
        try manager.send([])
        try manager.send(["WATCHDOG=1"])
        #expect(socket.messages() == ["READY=1\nSTATUS=at work", "WATCHDOG=1"])
    }

    @Test func `a heartbeat tells the manager of looks, a reload and the stop`() throws {
        let folder = try ScratchFolder()
        let socket = try NotifySocket("\(folder.path)/notify")
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let environment = ["NOTIFY_SOCKET": "\(folder.path)/notify"]
        let heartbeat = try Heartbeat(path: nil, environment: environment, logger: quiet)
        heartbeat.observe(standing: [:], waitingFor: [], policyVersion: "test.1")
        heartbeat.beginReload()
        heartbeat.endReload()
        heartbeat.stop()
        let messages = socket.messages()
        #expect(messages.first == "READY=1\nWATCHDOG=1\nSTATUS=at work, policy test.1")
        #expect(messages.dropFirst().first?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
        #expect(messages.suffix(2) == ["READY=1", "STOPPING=1\nSTATUS=stopping"])
    }

    @Test func `a manager that has gone, or does not read, holds nothing up`() throws {
        let folder = try ScratchFolder()
        let path = "\(folder.path)/notify"
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": path]))
        #expect(throws: ServiceManager.Failure.self) { try manager.send(["WATCHDOG=1"]) }
        let socket = try NotifySocket(path)
        #expect(throws: ServiceManager.Failure.self) { for _ in 0..<100_000 { try manager.send(["WATCHDOG=1"]) } }
        #expect(socket.messages().first == "WATCHDOG=1")
    }

    @Test(arguments: [nil, "", "relative", "vsock:2:1", "/" + String(repeating: "a", count: 107)])
    func `without a socket that can be named there is no manager`(name: String?) {
        #expect(ServiceManager(environment: name.map { ["NOTIFY_SOCKET": $0] } ?? [:]) == nil)
    }
}
