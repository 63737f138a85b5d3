// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle
import UnixSignals

/// Reads the secrets again on SIGHUP and when one of their files changes, in the way of `PolicyReload`.
struct SecretReload: Service {
    let loader: SecretLoader

    /// A change is in force two to three of these after it.
    var interval = Duration.seconds(1)

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
                    await loader.load(because: .signal)
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
            if isSettled { await loader.load(because: .change) }
            // Looked at by path, as policies are: Kubernetes leads a link elsewhere.
            try? await Task.sleep(for: interval)
        }
    }
}
