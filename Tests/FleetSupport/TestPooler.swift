// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import TestSupport
import TestTools

/// PgBouncer in front of a test's private server.
package enum TestPooler {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs PgBouncer during the body, which receives its URL of a database, and stops it afterwards.
    ///
    /// Every login is mapped to the server's superuser. `settings` are lines for `pgbouncer.ini`.
    package static func with(
        _ server: PrivatePostgres,
        settings: String,
        _ body: (_ url: String) async throws -> Void
    ) async throws {
        let folder = try ScratchFolder()
        let place = "/var/tmp/\(uniqueName("code-courier-pooler-"))"
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = listener.localAddress?.port ?? 0
        try await listener.close()
        let serverPort = server.url.split(separator: ":").last?.split(separator: "/").first ?? ""
        let file = try folder.write(
            """
            [databases]
            * = host=127.0.0.1 port=\(serverPort) user=courier
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            \(settings)
            """,
            to: "pgbouncer.ini"
        )
        let isRoot = geteuid() == 0
        let owner = isRoot ? ["-o", "postgres"] : []
        try await finish(["-d", "-m", "700"] + owner + [place], "/usr/bin/install", folder)
        try await finish(["-m", "600"] + owner + [file, "\(place)/pgbouncer.ini"], "/usr/bin/install", folder)
        let pooler = try start(["/usr/sbin/pgbouncer", "\(place)/pgbouncer.ini"], asRoot: isRoot, folder)
        try await doing {
            try await eventually("the pooler listens") {
                guard pooler.isRunning else { throw Failure(description: pooler.errors) }
                return pooler.errors.contains("process up")
            }
            try await body("postgresql://courier@127.0.0.1:\(port)/postgres")
        } afterwards: {
            pooler.send(SIGKILL)
            try await pooler.exit()
            try await finish(["-rf", place], "/bin/rm", folder)
        }
    }

    /// Starts PgBouncer as another user if necessary, since it refuses to run as root.
    private static func start(_ command: [String], asRoot isRoot: Bool, _ folder: ScratchFolder) throws -> Program {
        guard isRoot else {
            return try Program(Array(command.dropFirst()), executable: command[0], folder: folder)
        }
        let user = ["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]
        return try Program(user + command, executable: "/usr/bin/setpriv", folder: folder)
    }

    private static func finish(_ arguments: [String], _ name: String, _ folder: ScratchFolder) async throws {
        let program = try Program(arguments, executable: name, folder: folder)
        guard try await program.exit() == .code(0) else { throw Failure(description: "\(name): \(program.errors)") }
    }
}
