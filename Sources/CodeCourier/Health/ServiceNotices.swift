// SPDX-License-Identifier: Apache-2.0

/// Decides which notices a worker sends to systemd, as a pure state machine.
///
/// `READY=1` is sent at the first check at which the worker can process requests. Until then, each check with progress
/// extends the start timeout, so that a start may wait for Kafka but a stalled one is ended. `WATCHDOG=1` is sent after
/// each check at which every working part makes progress.
struct ServiceNotices: Sendable {
    private var isReady = false
    private var isStopping = false
    private var status = ""

    /// The extension of the start timeout at each check, 30 s.
    private static let moreTime = "EXTEND_TIMEOUT_USEC=30000000"

    /// The notices after a check.
    mutating func observe(_ state: WorkerState) -> [String] {
        let getsOn = state.late.isEmpty
        var lines: [String] = []
        if !isReady, !isStopping {
            isReady = getsOn && state.hasAllNeeds
            if isReady { lines.append("READY=1") } else if getsOn { lines.append(Self.moreTime) }
        }
        if getsOn { lines.append("WATCHDOG=1") }
        if state.summary != status {
            status = state.summary
            lines.append("STATUS=\(status)")
        }
        return lines
    }

    /// The notices before a reload; none before the worker is ready.
    func beginReload(at now: MonotonicTime) -> [String] {
        isReady && !isStopping ? ["RELOADING=1", "MONOTONIC_USEC=\(now.microseconds)"] : []
    }

    /// The notices after a reload, whether it succeeded or not.
    func endReload() -> [String] {
        isReady && !isStopping ? ["READY=1"] : []
    }

    mutating func stop() -> [String] {
        isStopping = true
        status = "stopping"
        return ["STOPPING=1", "STATUS=stopping"]
    }
}
