// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
import Logging
import Logs
import Synchronization
import Verification

/// Reports the worker's health: to probes through the health file, to systemd through its socket.
///
/// It reports only after a check of the watchdog, never on its own timer, so that it stops when the watchdog stalls.
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

    /// Writes the first state at once, so that a path that cannot be written fails the start.
    ///
    /// `patience` is the number of checks after which a part without progress is late.
    init(path: String?, patience: Int = 30, environment: [String: String], logger: Logger) throws {
        file = path.map { HealthFile(path: $0) }
        manager = ServiceManager(environment: environment)
        self.patience = patience
        self.logger = logger
        try file?.write(
            try state(standing: [:], waitingFor: [.postgres, .kafka], policyVersion: "", isStopping: false).json()
        )
    }

    /// True when the worker writes a health file for probes.
    var hasFile: Bool { file != nil }

    /// Reports the result of a check by the watchdog.
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

    /// Reports the start of a reload that an operator requested.
    func beginReload() {
        told.withLock { send($0.notices.beginReload(at: .now), &$0) }
    }

    func endReload() {
        told.withLock { send($0.notices.endReload(), &$0) }
    }

    /// Reports that the worker has received a signal to stop.
    func stop() {
        told.withLock { told in
            told.isStopping = true
            send(told.notices.stop(), &told)
        }
    }

    /// Removes the health file when the worker has ended.
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

    /// Runs a report and logs the first failure of each kind; probes and systemd notice missing reports themselves.
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
