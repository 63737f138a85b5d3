// SPDX-License-Identifier: Apache-2.0

/// What a worker tells systemd, and when: pure, the caller sends it.
///
/// `READY=1` comes with the first look at which the worker can do its work; until then each look in which it gets on
/// asks for more time, so that a start waits for Kafka and yet a stalled one is ended. `WATCHDOG=1` comes from looks at
/// which every part at work has got on.
struct ServiceNotices: Sendable {
    private var isReady = false
    private var isStopping = false
    private var status = ""

    /// How much longer a start may take from each look on.
    private static let moreTime = "EXTEND_TIMEOUT_USEC=30000000"

    /// After a look.
    mutating func look(_ state: WorkerState) -> [String] {
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

    /// Before a reload; a start that is not over cannot be reloaded.
    func beginReload(at now: MonotonicTime) -> [String] {
        isReady && !isStopping ? ["RELOADING=1", "MONOTONIC_USEC=\(now.microseconds)"] : []
    }

    /// After a reload, whatever came of it.
    func endReload() -> [String] {
        isReady && !isStopping ? ["READY=1"] : []
    }

    mutating func stop() -> [String] {
        isStopping = true
        status = "stopping"
        return ["STOPPING=1", "STATUS=stopping"]
    }
}
