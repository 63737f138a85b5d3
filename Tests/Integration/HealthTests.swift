// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Foundation
import KafkaClient
import MockKafka
import TestSupport
import TestTools
import Testing

extension Scenarios {
    @Suite struct Health {
        @Test func `a worker tells probes and systemd when it is ready, reloads, hangs and stops`() async throws {
            try await TestFleet.with { fleet in
                let folder = fleet.folder
                #expect(try await health(folder) == .code(1))
                let manager = try NotifySocket(folder["notify"])
                let settings = ["WORKER_HEALTH_PATH": folder["health"], "NOTIFY_SOCKET": folder["notify"]]
                let worker = try await fleet.startWorker(settings)
                var told = ""
                func hear(_ words: String) async throws {
                    try await eventually("systemd is told \(words)") {
                        told += manager.messages().map { "\($0)\n" }.joined()
                        return told.contains(words)
                    }
                }
                try await hear("READY=1\nWATCHDOG=1\nSTATUS=at work, policy test.1\n")
                #expect(try await health(folder) == .code(0))

                worker.program.send(SIGHUP)
                try await hear("RELOADING=1\nMONOTONIC_USEC=")

                worker.program.send(SIGSTOP)
                try await eventually("the state is too old", within: .seconds(60)) {
                    try await health(folder, "--live") == .code(1)
                }
                worker.program.send(SIGCONT)
                try await eventually("the worker is live again") { try await health(folder, "--live") == .code(0) }

                try await worker.stop()
                try await hear("STOPPING=1")
                #expect(try await health(folder) == .code(1))
            }
        }

        @Test func `a worker whose brokers are away is live and not ready`() async throws {
            try await TestFleet.with { fleet in
                let settings = [
                    "WORKER_HEALTH_PATH": fleet.folder["health"], "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
                ]
                _ = try await fleet.startWorker(settings, waiting: false)
                try await eventually("it is live") { try await health(fleet.folder, "--live") == .code(0) }
                #expect(try await health(fleet.folder, "--ready") == .code(1))
            }
        }

        @Test func `one message shows that the only provider is dead, and the worker stays ready`() async throws {
            try await TestFleet.with { fleet in
                // Nothing listens on this port.
                try fleet.configure("baseURL: \"http://", "baseURL: \"http://127.0.0.1:1/")
                let worker = try await fleet.startWorker(["WORKER_HEALTH_PATH": fleet.folder["health"]])
                let request = TestRequest(phoneNumber: Numbers.one())
                try await fleet.send(request)
                #expect(try await fleet.event(of: request).answer == Answer("failed", "provider_unavailable"))
                #expect(worker.logged.count { $0 == "provider.paused" } == 1)
                #expect(worker.logged.count { $0 == "route.dead" } == 1)
                try await eventually("health names the provider") {
                    let program = try Program(["health", "--path", fleet.folder["health"]], folder: fleet.folder)
                    guard try await program.exit() == .code(0) else { return false }
                    return program.lines.joined().contains("at work, no provider accepts: main (connection_refused)")
                }
            }
        }

        @Test func `a worker one of whose brokers is away names the partition, until the broker is back`() async throws
        {
            try await TestFleet.with(brokers: 3, needsMock: true) { fleet in
                let mock = try #require(fleet.cluster.mock)
                let topic = fleet.topics.requests
                for partition in Int32(0)..<3 { try mock.setLeader(of: topic, partition, to: partition + 1) }
                for group in ["\(topic).group", "\(topic).group-receipts"] {
                    try mock.moveCoordinator(of: group, to: 1)
                }
                _ = try await fleet.startWorker(["WORKER_HEALTH_PATH": fleet.folder["health"]])
                try await eventually("it is ready") { try await health(fleet.folder) == .code(0) }
                try mock.brokerDown(2)
                try await eventually("health names the partition", within: .seconds(30)) {
                    let program = try Program(["health", "--path", fleet.folder["health"]], folder: fleet.folder)
                    guard try await program.exit() == .code(1) else { return false }
                    return program.lines.joined().contains("cannot read \(topic), partition 1 ")
                }
                try mock.brokerUp(2)
                try await eventually("it is ready again") { try await health(fleet.folder) == .code(0) }
            }
        }

        private func health(_ folder: ScratchFolder, _ options: String...) async throws -> Program.Exit {
            let program = try Program(["health", "--path", folder["health"]] + options, folder: folder)
            let exit = try await program.exit()
            #expect(program.lines.count == 1, "\(program.errors)")
            return exit
        }
    }
}
