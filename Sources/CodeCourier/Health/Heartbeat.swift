// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import Logs
import Synchronization
import Verification

/// Tells those outside how the worker gets on: probes through the health file, systemd through its socket.
///
/// It speaks when the watchdog has looked, never by a timer of its own, so that it falls silent with what it tells of.
final class Heartbeat: Sendable {
    private struct Told {
        var notices = ServiceNotices()
        var isStopping = false
        var hasFailed: Set<String> = []
    }

    private let file: HealthFile?
    private let manager: ServiceManager?
    private let patience: Int
    private let logger: Logger
    private let told = Mutex(Told())

    /// Writes the first state at once, so that a path that cannot be written stops the start.
    ///
    /// `patience` is the number of looks after which a part that has not got on is late.
    init(path: String?, patience: Int = 30, environment: [String: String], logger: Logger) throws {
        file = path.map { HealthFile(path: $0) }
        manager = ServiceManager(environment: environment)
        self.patience = patience
        self.logger = logger
        try file?.write(
            try state(standing: [:], waitingFor: [.postgres, .kafka], policyVersion: "", isStopping: false).json()
        )
    }

    /// True where a probe can read how the worker is.
    var hasFile: Bool { file != nil }

    /// Tells what the watchdog has seen.
    func look(
        standing: [String: Int],
        waitingFor: [WorkerState.Need],
        topicFaults: [String] = [],
        policyVersion: String
    ) {
        told.withLock { told in
            var state = state(
                standing: standing,
                waitingFor: waitingFor,
                policyVersion: policyVersion,
                isStopping: told.isStopping
            )
            state.topicFaults = topicFaults
            attempt("health_file", &told) { try file?.write(state.json()) }
            send(told.notices.look(state), &told)
        }
    }

    /// The policy is about to be read again because somebody asked for it.
    func beginReload() {
        told.withLock { send($0.notices.beginReload(at: .now), &$0) }
    }

    func endReload() {
        told.withLock { send($0.notices.endReload(), &$0) }
    }

    /// The worker has been told to stop.
    func stop() {
        told.withLock { told in
            told.isStopping = true
            send(told.notices.stop(), &told)
        }
    }

    /// The worker has done all that it does.
    func end() {
        file?.remove()
    }

    private func state(
        standing: [String: Int],
        waitingFor: [WorkerState.Need],
        policyVersion: String,
        isStopping: Bool
    ) -> WorkerState {
        WorkerState(
            time: Timestamp.now.rfc3339,
            clock: .now,
            process: getpid(),
            policyVersion: policyVersion,
            standing: standing,
            patience: patience,
            waitingFor: waitingFor,
            isStopping: isStopping
        )
    }

    private func send(_ lines: [String], _ told: inout Told) {
        attempt("systemd", &told) { try manager?.send(lines) }
    }

    /// Logs the first failure of each kind; those who listen draw their own conclusions from the silence.
    private func attempt(_ target: String, _ told: inout Told, _ body: () throws -> Void) {
        do {
            try body()
            told.hasFailed.remove(target)
        } catch {
            guard told.hasFailed.insert(target).inserted else { return }
            logger.log(.heartbeatFailed, [.target: .text(target), .error: LogValue(error)])
        }
    }
}
