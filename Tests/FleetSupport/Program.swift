// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
package import TestTools

/// A separate process that runs the built program `code-courier`.
package final class Program: Sendable {
    package enum Exit: Equatable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    private let process: Process
    private let folder: ScratchFolder
    private let name: String

    /// Starts the program, with its output in files of the folder.
    ///
    /// From this process's environment it gets only the variables that it needs to run at all.
    package init(
        _ arguments: [String],
        executable: String? = nil,
        environment: [String: String] = [:],
        folder: ScratchFolder,
        name: String = uniqueName("program-")
    ) throws {
        let kept = ["PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR"]
        let inherited = ProcessInfo.processInfo.environment.filter { kept.contains($0.key) }
        let process = Process()
        process.executableURL = executable.map { URL(filePath: $0) } ?? Self.path(for: environment)
        process.arguments = arguments
        process.environment = inherited.merging(environment) { $1 }
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (try Self.output(folder["\(name).out"]), try Self.output(folder["\(name).err"]))
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        // The child has its own copies; these descriptors would add up over a thousand runs.
        try output.close()
        try errors.close()
        (self.process, self.folder, self.name) = (process, folder, name)
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// The standard output so far.
    package var output: String { folder.text(of: "\(name).out") }

    /// The standard error so far.
    package var errors: String { folder.text(of: "\(name).err") }

    package var lines: [String] { output.split(separator: "\n").map(String.init) }
    package var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
    package var isRunning: Bool { process.isRunning }

    /// The process id, which is invalid once the process has ended.
    package var identifier: Int32 { process.processIdentifier }

    package func send(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// Waits for the process to end.
    @discardableResult
    package func exit(within limit: Duration = .seconds(30)) async throws -> Exit {
        try await eventually("\(name) ends", within: limit) { !process.isRunning }
        switch process.terminationReason {
        case .exit: return .code(process.terminationStatus)
        case .uncaughtSignal: return .signal(process.terminationStatus)
        @unknown default: return .signal(process.terminationStatus)
        }
    }

    private static func output(_ path: String) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return try FileHandle(forWritingTo: URL(filePath: path))
    }

    /// The build's folder of programs and tests, read once, since a build may replace the tests while they run.
    private static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    package static func path(of program: String) -> String { folder.appending(path: program).path }

    /// The path of a build that supports the environment.
    ///
    /// A release build has no crash points, so these need a debug build beside it.
    private static func path(for environment: [String: String]) -> URL {
        var folder = Self.folder
        let crashPoints = ["COURIER_CRASH_AT", "COURIER_STALL_AT"]
        if folder.lastPathComponent == "release", crashPoints.contains(where: { environment[$0] != nil }) {
            folder = folder.deletingLastPathComponent().appending(path: "debug")
        }
        return folder.appending(path: "code-courier")
    }
}
