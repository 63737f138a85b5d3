// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle
import UnixSignals

/// Loads files in a running worker, and applies their contents or keeps the ones in force.
protocol FileLoader: Actor {
    /// The files to watch.
    var paths: [String] { get }

    /// True when the last content could not be checked and must be read again, even without a change.
    var isRetryDue: Bool { get }

    func load(because cause: ReloadCause) async
}

extension FileLoader {
    var isRetryDue: Bool { false }
}

/// The reason for a reload.
enum ReloadCause {
    /// An operator's signal, which always gets an answer in the log.
    case signal

    /// A changed file; content that was read already is skipped.
    case change
}

/// Reloads files on SIGHUP and when one of them changes.
///
/// It polls the paths at short intervals: that detects a rename over a file and the symbolic links that Kubernetes
/// swaps, which notifications for one file or folder miss.
struct Reload: Service {
    private let loader: any FileLoader
    private let heartbeat: Heartbeat?
    private let interval: Duration

    /// Creates the service; with an `interval` of a second, a change takes effect after two to three seconds.
    init(by loader: any FileLoader, heartbeat: Heartbeat? = nil, interval: Duration = .seconds(1)) {
        (self.loader, self.heartbeat, self.interval) = (loader, heartbeat, interval)
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
        var changes: [String: FileChanges] = [:]
        while !Task.isCancelled {
            var isSettled = false
            for path in await loader.paths {
                if changes[path, default: FileChanges()].isSettled(FileIdentity(of: path)) { isSettled = true }
            }
            if await loader.isRetryDue { isSettled = true }
            if isSettled { await loader.load(because: .change) }
            // Paths are polled, since not every file system reports changes; a cancelled sleep ends at once, and the
            // loop with it.
            try? await Task.sleep(for: interval)
        }
    }
}
