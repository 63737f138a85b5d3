// SPDX-License-Identifier: Apache-2.0

import Courier
import Glibc
import Logging
import ServiceLifecycle
import UnixSignals
import Verification

/// Reads the policy again on SIGHUP and when its file changes; a faulty one is refused, and the one in force stays.
///
/// The file is asked by its path at short intervals rather than watched: that sees a rename over it and the symbolic
/// links that Kubernetes swaps, where notifications of one file or folder do not.
struct PolicyReload: Service {
    private let path: String
    private let interval: Duration
    private let loader: PolicyLoader
    private let heartbeat: Heartbeat?

    /// With an `interval` of a second, a change is in force two to three seconds after it.
    init(
        path: String,
        providers: [String: Channel],
        policies: PolicySource,
        shards: Int = 1,
        logger: Logger,
        heartbeat: Heartbeat? = nil,
        interval: Duration = .seconds(1)
    ) {
        self.path = path
        self.heartbeat = heartbeat
        self.interval = interval
        loader = PolicyLoader(
            path: path,
            providers: providers,
            policies: policies,
            shards: shards,
            logger: logger
        )
    }

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
                    heartbeat?.beginReload()
                    await loader.load(because: .signal)
                    heartbeat?.endReload()
                }
            }
            group.addTask { await cancelWhenGracefulShutdown { await watch() } }
            await group.waitForAll()
        }
    }

    private func watch() async {
        var changes = FileChanges()
        while !Task.isCancelled {
            if changes.isSettled(FileIdentity(of: path)) { await loader.load(because: .change) }
            // Looked at by path: a watch of the file itself would not see a link that is led elsewhere.
            try? await Task.sleep(for: interval)
        }
    }
}

/// What tells two states of a file apart without reading it; of the file that a symbolic link leads to.
struct FileIdentity: Sendable, Equatable {
    private let device: dev_t
    private let inode: ino_t
    private let size: off_t
    private let seconds: [Int]

    /// Nil when there is no such file, or none that may be looked at.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
        size = status.st_size
        // The time of the last change of the inode also moves when a tool puts the old modification time back.
        seconds = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}

/// Tells when a file that changed is worth reading: once it looks the same twice, since a writer may not be done.
struct FileChanges: Sendable {
    private var last: FileIdentity??
    private var settled: FileIdentity??

    /// Whether the file differs from when it was last settled, and is so for the second time running.
    mutating func isSettled(_ current: FileIdentity?) -> Bool {
        defer { last = .some(current) }
        guard let last, last == current else { return false }
        if let settled, settled == current { return false }
        settled = .some(current)
        return true
    }
}
