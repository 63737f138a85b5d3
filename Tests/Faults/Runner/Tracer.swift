// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Foundation
import TestTools

/// A system call of one thread of a worker, numbered among the thread's calls of that kind.
struct CallPoint: Hashable, Sendable {
    let thread: ThreadName
    let call: String

    /// 1 for the first call after the tracer was attached.
    let number: Int
}

/// Identifies a thread across workers: its name, and its position among threads with that name.
struct ThreadName: Hashable, Comparable, Sendable {
    let name: String
    let place: Int

    static func < (left: ThreadName, right: ThreadName) -> Bool {
        (left.name, left.place) < (right.name, right.place)
    }
}

/// Runs strace on a worker to count system calls, or to kill the worker at the entry of one.
///
/// strace counts the calls of each thread separately, so a point names its thread.
enum Tracer {
    /// The system calls by which a worker has an effect outside its process.
    static let calls = [
        "write", "writev", "pwrite64", "sendto", "sendmsg", "sendmmsg", "fsync", "fdatasync", "connect", "close",
    ]

    /// Records the system calls of all threads of a worker while the body runs.
    static func record(
        _ worker: Worker,
        in folder: ScratchFolder,
        during body: () async throws -> Void
    ) async throws
        -> [CallPoint]
    {
        let threads = try Tracer.threads(of: worker)
        let output = uniqueName("trace-")
        let tracer = try await attach(
            ["-f", "-qq", "-e", "trace=\(calls.joined(separator: ","))", "-o", folder[output]],
            to: [worker.program.identifier],
            of: worker,
            folder
        )
        guard let tracer else { throw TracerFailure(description: "the worker has ended") }
        try await body()
        // The worker continues when its tracer is killed, and strace writes each line at once.
        tracer.send(SIGKILL)
        try await tracer.exit()
        return points(folder.text(of: output), threads)
    }

    /// Lets strace kill a worker at a point; the tracer then ends as well.
    ///
    /// Returns nil when the worker has no such thread, since pool threads start and end.
    static func arm(_ worker: Worker, at point: CallPoint, in folder: ScratchFolder) async throws -> Program? {
        let threads = try Tracer.threads(of: worker)
        guard let thread = threads.first(where: { $0.value == point.thread })?.key else { return nil }
        return try await attach(
            ["-e", "trace=\(point.call)", "-e", "inject=\(point.call):signal=KILL:when=\(point.number)"],
            to: [thread],
            of: worker,
            folder
        )
    }

    /// Attaches strace, and returns nil when its target has already ended.
    private static func attach(
        _ arguments: [String],
        to processes: [Int32],
        of worker: Worker,
        _ folder: ScratchFolder
    ) async throws -> Program? {
        let targets = processes.flatMap { ["-p", "\($0)"] }
        let tracer = try Program(arguments + targets, executable: "/usr/bin/strace", folder: folder)
        try await eventually("strace is attached") {
            if tracer.isRunning {
                return processes.allSatisfy { isTraced($0, in: worker, by: tracer) }
            }
            // A worker that reached its point at once is already dead, and so is its tracer.
            if hasAttached(tracer) || tracer.errors.contains("No such process") { return true }
            throw TracerFailure(description: tracer.errors)
        }
        return tracer.isRunning || hasAttached(tracer) ? tracer : nil
    }

    private static func hasAttached(_ tracer: Program) -> Bool { tracer.errors.contains(" attached") }

    /// Returns false also for a thread that has ended.
    private static func isTraced(_ thread: Int32, in worker: Worker, by tracer: Program) -> Bool {
        let path = "/proc/\(worker.program.identifier)/task/\(thread)/status"
        let status = try? String(contentsOfFile: path, encoding: .utf8)
        return status?.contains("TracerPid:\t\(tracer.identifier)") ?? false
    }

    private static func threads(of worker: Worker) throws -> [Int32: ThreadName] {
        let tasks = "/proc/\(worker.program.identifier)/task"
        var places: [String: Int] = [:]
        var threads: [Int32: ThreadName] = [:]
        for thread in try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap({ Int32($0) }).sorted() {
            // The thread may have ended in between.
            guard let name = try? String(contentsOfFile: "\(tasks)/\(thread)/comm", encoding: .utf8) else { continue }
            let trimmed = name.trimmingCharacters(in: .whitespacesAndNewlines)
            threads[thread] = ThreadName(name: trimmed, place: places[trimmed, default: 0])
            places[trimmed, default: 0] += 1
        }
        return threads
    }

    /// One point for each line of strace's output that begins a call, such as `4711 sendto(9, …`.
    private static func points(_ text: String, _ threads: [Int32: ThreadName]) -> [CallPoint] {
        var counts: [CallPoint: Int] = [:]
        var points: [CallPoint] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let thread = Int32(words[0]).flatMap({ threads[$0] }) else { continue }
            let call = String(words[1].drop { $0 == " " }.prefix { $0 != "(" })
            guard calls.contains(call) else { continue }
            let kind = CallPoint(thread: thread, call: call, number: 0)
            counts[kind, default: 0] += 1
            points.append(CallPoint(thread: thread, call: call, number: counts[kind, default: 0]))
        }
        return points
    }
}

struct TracerFailure: Error, CustomStringConvertible {
    let description: String
}
