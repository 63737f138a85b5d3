// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// The program `code-courier` in the same folder as this program.
struct WorkerProgram: Sendable {
    private let path: URL
    private let environment: [String: String]

    /// The standard output of a command, and its exit code.
    struct Ended: Sendable {
        let lines: [String]
        let code: Int32
    }

    /// Finds the program; `settings` are variables of the configuration, which override the caller's environment.
    init(settings: [String: String]) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        path = URL(filePath: own).deletingLastPathComponent().appending(path: "code-courier")
        let sections = ["KAFKA_", "POSTGRES_", "POLICY_", "KEYS_", "WORKER_", "LOG_", "PROVIDERS_"]
        environment = ProcessInfo.processInfo.environment
            .filter { variable in !sections.contains { variable.key.hasPrefix($0) } }
            .merging(settings) { $1 }
    }

    /// The program, as a person would type it.
    var name: String { DemoText.path(of: path) }

    /// Runs a command to its end; cancelling the task interrupts it like Ctrl-C.
    func run(_ arguments: [String]) async throws -> Ended {
        // A file takes any length of output; a pipe that nobody reads meanwhile would stop the process.
        let output = FileManager.default.temporaryDirectory.appending(path: "code-courier-\(UUID().uuidString)")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        let process = process(arguments)
        process.standardOutput = try FileHandle(forWritingTo: output)
        let code = try await end(of: process)
        let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        return Ended(lines: text.split(separator: "\n").map(String.init), code: code)
    }

    /// Runs a worker until the task is cancelled, and waits until it has drained; throws when it exits by itself.
    func work(_ arguments: [String]) async throws {
        guard !Task.isCancelled else { return }
        let code = try await end(of: process(arguments))
        guard Task.isCancelled else { throw ExitCode(code == 0 ? 1 : code) }
    }

    private func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = path
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        return process
    }

    private func end(of process: Process) async throws -> Int32 {
        try Task.checkCancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
                do {
                    try process.run()
                    // The handler does nothing if it runs before the process has started.
                    if Task.isCancelled { process.terminate() }
                } catch {
                    process.terminationHandler = nil
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            if process.isRunning, process.processIdentifier > 0 { process.terminate() }
        }
    }
}
