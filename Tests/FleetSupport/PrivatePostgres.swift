// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import TestTools

/// A PostgreSQL server for one test, which may crash it, pause it and fill its disk.
package final class PrivatePostgres: Sendable {
    /// The URL of a superuser; the port stays the same over restarts.
    package let url: String

    private let place: String
    private let port: Int
    private let folder: ScratchFolder
    private let server = Mutex<Program?>(nil)
    private let started = Mutex<[Program]>([])

    /// The private server of the current test, if it has one.
    @TaskLocal static var current: PrivatePostgres?

    /// The server's log, restarts included.
    var log: String { started.withLock { $0.map(\.errors).joined() } }

    private static let programs = "/usr/lib/postgresql/15/bin"

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private init() async throws {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
        try await listener.close()
        folder = try ScratchFolder()
        place = "/var/tmp/\(uniqueName("code-courier-postgres-"))"
        url = "postgresql://courier@127.0.0.1:\(port)/postgres"
    }

    /// Runs a server during the body, on which `LedgerDatabase` creates its databases, and removes it afterwards.
    ///
    /// `settings` are lines for `postgresql.conf`, and `files` are written next to it. With `diskSize`, in MiB, the
    /// server gets its own file system, which requires root.
    package static func with(
        settings: String = "",
        files: [String: String] = [:],
        diskSize: Int? = nil,
        _ body: (PrivatePostgres) async throws -> Void
    ) async throws {
        let server = try await launch(settings, files, diskSize)
        try await doing {
            do {
                try await LedgerDatabase.$server.withValue(server.url) {
                    try await $current.withValue(server) { try await body(server) }
                }
            } catch {
                print("--- log of PostgreSQL\n\(server.log.suffix(4000))")
                throw error
            }
        } afterwards: {
            try await server.remove(hasDisk: diskSize != nil)
        }
    }

    /// Starts a server, and retries when another program has taken its port first.
    private static func launch(
        _ settings: String,
        _ files: [String: String],
        _ diskSize: Int?
    ) async throws -> PrivatePostgres {
        var tries = 0
        while true {
            let server = try await PrivatePostgres()
            do {
                try await server.make(settings, diskSize: diskSize)
                for (name, text) in files { try await server.install(text, as: name) }
                try await server.start()
                return server
            } catch {
                // The first error says more than a failed removal of an incomplete server.
                try? await server.remove(hasDisk: diskSize != nil)
                tries += 1
                guard tries < 5, server.log.contains("Address already in use") else { throw error }
            }
        }
    }

    private func remove(hasDisk: Bool) async throws {
        try await crash()
        if hasDisk { try await run("/bin/umount", [place]) }
        try await run("/bin/rm", ["-rf", place])
    }

    private func make(_ settings: String, diskSize: Int?) async throws {
        let isRoot = geteuid() == 0
        try await run("/usr/bin/install", ["-d", "-m", "700"] + (isRoot ? ["-o", "postgres"] : []) + [place])
        if let diskSize {
            guard isRoot else { throw Failure(description: "a file system of its own takes the rights of root") }
            let options = "size=\(diskSize)m,mode=700,uid=postgres"
            try await run("/bin/mount", ["-t", "tmpfs", "-o", options, "tmpfs", place])
        }
        // WAL segments of 1 MiB, so that a small disk has room for several.
        try await run(
            owned: "\(Self.programs)/initdb",
            ["-D", "\(place)/data", "-U", "courier", "--auth=trust", "--no-sync", "--wal-segsize=1", "-E", "UTF8"]
        )
        let path = try folder.write(
            """
            listen_addresses = '127.0.0.1'
            port = \(port)
            unix_socket_directories = ''
            min_wal_size = 2MB
            max_wal_size = 8MB
            \(settings)
            """,
            to: "postgresql.conf"
        )
        try await run("/bin/cp", [path, "\(place)/data/postgresql.conf"])
    }

    /// Installs a file that only the server can read, which PostgreSQL requires of its key.
    private func install(_ text: String, as name: String) async throws {
        let path = try folder.write(text, to: name)
        let owner = geteuid() == 0 ? ["-o", "postgres"] : []
        try await run("/usr/bin/install", ["-m", "600"] + owner + [path, "\(place)/data/\(name)"])
    }
}

// MARK: - Faults

extension PrivatePostgres {
    package var isRunning: Bool { server.withLock { $0?.isRunning == true } }

    package func start() async throws {
        let program = try owned("\(Self.programs)/postgres", ["-D", "\(place)/data"])
        server.withLock { $0 = program }
        started.withLock { $0.append(program) }
        try await eventually("PostgreSQL starts") {
            guard program.isRunning else { throw Failure(description: program.errors) }
            return program.errors.contains("ready to accept connections")
        }
    }

    /// Ends the server without a shutdown, as `pg_ctl stop -m immediate` does.
    package func crash() async throws {
        guard let program = server.withLock({ $0.take() }) else { return }
        program.send(SIGCONT)
        program.send(SIGQUIT)
        try await program.exit(within: Self.maxWait)
    }

    /// Pauses every process of the server, with all connections open.
    package func pause() { send(SIGSTOP) }
    package func resume() { send(SIGCONT) }

    /// Fills the rest of the server's disk.
    package func fillDisk() throws {
        let path = "\(place)/filler"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw Failure(description: "no file can be made in \(place)") }
        defer { close(descriptor) }
        for size in [65_536, 4096, 1] {
            let filler = [UInt8](repeating: 0, count: size)
            while write(descriptor, filler, size) == size {}
        }
    }

    /// Number of times that the server has found its disk full.
    package var refusalsOfDisk: Int { log.ranges(of: "No space left on device").count }

    package func growDisk(to megabytes: Int) async throws {
        try await run("/bin/mount", ["-o", "remount,size=\(megabytes)m", place])
    }

    private func send(_ signal: Int32) {
        guard let parent = server.withLock({ $0?.identifier }) else { return }
        let list = FileManager.default.contents(atPath: "/proc/\(parent)/task/\(parent)/children") ?? Data()
        let children = String(decoding: list, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
        // Stops the parent first and resumes it last, so that it starts no child in between.
        for process in signal == SIGSTOP ? [parent] + children : children + [parent] { kill(process, signal) }
    }
}

// MARK: - Programs

extension PrivatePostgres {
    /// Time limit for the creation of a server, which takes over half a minute while a build runs.
    private static let maxWait = Duration.seconds(120)

    private func run(_ program: String, _ arguments: [String]) async throws {
        try await finish(Program(arguments, executable: program, folder: folder), program)
    }

    private func run(owned program: String, _ arguments: [String]) async throws {
        try await finish(owned(program, arguments), program)
    }

    private func finish(_ program: Program, _ name: String) async throws {
        guard try await program.exit(within: Self.maxWait) == .code(0) else {
            throw Failure(description: "\(name): \(program.errors)")
        }
    }

    /// Runs a program as a user that PostgreSQL accepts.
    ///
    /// PostgreSQL refuses to run as root, so root runs it as the user `postgres` of Debian's packages.
    private func owned(_ program: String, _ arguments: [String]) throws -> Program {
        guard geteuid() == 0 else { return try Program(arguments, executable: program, folder: folder) }
        let user = ["--reuid=postgres", "--regid=postgres", "--clear-groups", "--", program]
        return try Program(user + arguments, executable: "/usr/bin/setpriv", folder: folder)
    }
}
