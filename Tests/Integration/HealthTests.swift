// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Foundation
import TestSupport
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

        private func health(_ folder: ScratchFolder, _ options: String...) async throws -> Program.Exit {
            let program = try Program(["health", "--path", folder["health"]] + options, folder: folder)
            let exit = try await program.exit()
            #expect(program.lines.count == 1, "\(program.errors)")
            return exit
        }
    }
}
