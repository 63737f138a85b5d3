// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle
import UnixSignals

/// Puts the contents of files into force in a running worker, or refuses them and leaves in force what is.
protocol FileLoader: Actor {
    /// The files that are worth watching.
    var paths: [String] { get }

    /// True where what was read is to be read again, although no file changes: it could not be judged.
    var isRetryDue: Bool { get }

    func load(because cause: ReloadCause) async
}

extension FileLoader {
    var isRetryDue: Bool { false }
}

/// Why files are read again.
enum ReloadCause {
    /// An operator asks, and is always answered.
    case signal

    /// A file looks different; what was read already is passed over.
    case change
}

/// Has files read again on SIGHUP and when one of them changes.
///
/// A file is asked by its path at short intervals rather than watched: that sees a rename over it and the symbolic
/// links that Kubernetes swaps, where notifications of one file or folder do not.
struct Reload: Service {
    private let loader: any FileLoader
    private let heartbeat: Heartbeat?
    private let interval: Duration

    /// With an `interval` of a second, a change is in force two to three seconds after it.
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
            // The pace at which paths are looked at, since not every file system tells of changes; a cancelled sleep ends at
            // once, and the loop with it.
            try? await Task.sleep(for: interval)
        }
    }
}
