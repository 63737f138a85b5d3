// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestTools

extension TestFleet {
    package var workers: [Worker] { state.withLock(\.workers) }

    /// Starts a worker and waits for its partitions.
    ///
    /// Environment variables override the file.
    package func startWorker(_ environment: [String: String] = [:], waiting: Bool = true) async throws -> Worker {
        let worker = try launchWorker(environment)
        try await worker.waitForLog(waiting ? "kafka.assigned" : "worker.started")
        return worker
    }

    /// Starts a worker without waiting for it, with any log format.
    package func launchWorker(_ environment: [String: String]) throws -> Worker {
        let number = state.withLock { state in
            state.started += 1
            return state.started
        }
        let program = try Program(
            ["run", "--config", folder[Self.configurationFile]],
            environment: environment.merging(["LOG_LEVEL": "debug"]) { given, _ in given },
            folder: folder,
            name: "worker-\(number)"
        )
        let worker = Worker(program: program)
        state.withLock { state in
            state.workers.append(worker)
            state.programs.append(program)
        }
        return worker
    }

    /// Runs a command of the program to its end.
    package func command(
        _ arguments: [String],
        environment: [String: String] = [:],
        within limit: Duration = .seconds(60)
    ) async throws -> (Program, Program.Exit) {
        let program = try Program(arguments, environment: environment, folder: folder)
        state.withLock { $0.programs.append(program) }
        return (program, try await program.exit(within: limit))
    }
}
