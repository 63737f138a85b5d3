// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ServiceLifecycle
import Synchronization
import Verification

/// Ends a process that does not get on any more, so that its supervisor starts another one.
///
/// It looks at pulses: numbers that change for as long as something is alive. It counts its own looks, not the clock, so
/// that a process that was stopped and goes on (SIGSTOP, a paused machine) gets its time anew.
struct Watchdog: Service {
    /// Asked at every look; what is not in the answer has nothing to do.
    let pulses: @Sendable () -> [String: Int]
    var interval = Duration.seconds(1)

    /// Looks without a change after which something counts as stalled.
    var patience = 45

    /// Looks without a change after which a part is late: a call may take nearly as long as its claim lasts, and shows no
    /// progress meanwhile.
    static func lateness(lease: Duration) -> Int { max(30, Int(lease / .seconds(1))) }

    /// Told at every look for how many looks each part has stood still, on the watchdog's own thread.
    var onLook: @Sendable ([String: Int]) -> Void = { _ in }

    /// Told what has stalled, on the watchdog's own thread.
    let onStall: @Sendable ([String]) -> Void

    /// Looks until the worker stops.
    func run() async throws {
        let looks = Mutex(Looks(patience: patience))
        let beat = Beat()
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "watchdog"))
        timer.schedule(deadline: .now(), repeating: .milliseconds(Int(interval.microseconds / 1000)))
        timer.setEventHandler {
            let seen = pulses().merging(["tasks": beat.count]) { $1 }
            let (stalled, standing) = looks.withLock { looks in (looks.stalled(seen), looks.standing) }
            if !stalled.isEmpty { onStall(stalled) }
            onLook(standing)
        }
        timer.resume()
        defer { timer.cancel() }
        // A task that wakes as often as the timer looks shows that tasks run at all: an event would come from one of them.
        try? await cancelWhenGracefulShutdown {
            while true {
                beat.advance()
                try await Task.sleep(for: interval)
            }
        }
    }

    private final class Beat: Sendable {
        private let value = Atomic(0)

        var count: Int { value.load(ordering: .relaxed) }

        func advance() {
            value.wrappingAdd(1, ordering: .relaxed)
        }
    }
}

extension Watchdog {
    /// How often each pulse has been seen without a change.
    struct Looks {
        let patience: Int
        private var seen: [String: (pulse: Int, count: Int)] = [:]

        init(patience: Int) {
            self.patience = patience
        }

        /// For how many looks each part has stood still.
        var standing: [String: Int] { seen.mapValues(\.count) }

        /// Takes one look; the names whose pulse has stood still for too long.
        mutating func stalled(_ pulses: [String: Int]) -> [String] {
            seen = Dictionary(
                uniqueKeysWithValues: pulses.map { name, pulse in
                    let last = seen[name]
                    return (name, (pulse, last?.pulse == pulse ? (last?.count ?? 0) + 1 : 0))
                }
            )
            return seen.filter { $0.value.count >= patience }.keys.sorted()
        }
    }
}
