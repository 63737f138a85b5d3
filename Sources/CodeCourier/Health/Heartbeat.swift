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
    private struct Written {
        var notices = ServiceNotices()
        var isStopping = false
        var hasFailed: Set<String> = []
    }

    private let file: HealthFile?
    private let manager: ServiceManager?
    private let maxWait: Int
    private let logger: Logger
    private let written = Mutex(Written())

    /// Writes the first state at once, so that a path that cannot be written fails the start.
    ///
    /// `maxWait` is the number of checks after which a part without progress is late.
    init(path: String?, maxWait: Int = 30, environment: [String: String], logger: Logger) throws {
        file = path.map { HealthFile(path: $0) }
        manager = ServiceManager(environment: environment)
        self.maxWait = maxWait
        self.logger = logger
        try file?.write(
            try state(standing: [:], waitingFor: [.postgres, .kafka], policyVersion: "", isStopping: false).json()
        )
    }

    /// True when the worker writes a health file for probes.
    var hasFile: Bool { file != nil }

    /// Reports the result of a check by the watchdog.
    func observe(
        standing: [String: Int],
        waitingFor: [WorkerState.Need],
        topicFaults: [String] = [],
        deadProviders: [String] = [],
        policyVersion: String
    ) {
        written.withLock { written in
            var state = state(
                standing: standing,
                waitingFor: waitingFor,
                policyVersion: policyVersion,
                isStopping: written.isStopping
            )
            state.topicFaults = topicFaults
            state.deadProviders = deadProviders
            attempt("health_file", &written) { try file?.write(state.json()) }
            send(written.notices.observe(state), &written)
        }
    }

    /// Reports the start of a reload that an operator requested.
    func beginReload() {
        written.withLock { send($0.notices.beginReload(at: .now), &$0) }
    }

    func endReload() {
        written.withLock { send($0.notices.endReload(), &$0) }
    }

    /// Reports that the worker has received a signal to stop.
    func stop() {
        written.withLock { written in
            written.isStopping = true
            send(written.notices.stop(), &written)
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
            maxWait: maxWait,
            waitingFor: waitingFor,
            isStopping: isStopping
        )
    }

    private func send(_ lines: [String], _ written: inout Written) {
        attempt("systemd", &written) { try manager?.send(lines) }
    }

    /// Runs a report and logs the first failure of each kind; probes and systemd notice missing reports themselves.
    private func attempt(_ target: String, _ written: inout Written, _ body: () throws -> Void) {
        do {
            try body()
            written.hasFailed.remove(target)
        } catch {
            guard written.hasFailed.insert(target).inserted else { return }
            logger.log(.heartbeatFailed, [.target: .text(target), .error: LogValue(error)])
        }
    }
}
