// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Formats
import KafkaClient
import ServiceLifecycle
import Synchronization
import Verification

/// Ends a process that makes no progress, so that its supervisor restarts it.
///
/// It checks pulses: numbers that change as long as a part is alive. It counts checks, not time, so that a process that
/// was suspended (SIGSTOP, a paused machine) gets the full time again.
struct Watchdog: Service {
    /// The current pulses, called at every check; a part that is missing has nothing to do.
    let pulses: @Sendable () -> [String: Int]
    var interval = Duration.seconds(1)

    /// The number of checks without a change after which a part counts as stalled.
    var maxWait = 45

    /// The number of checks without a change after which a part is late.
    ///
    /// A call may take nearly as long as its lease, and a record for a partition without a leader as long as its
    /// delivery; neither shows progress meanwhile.
    static func lateness(lease: Duration) -> Int {
        Int(max(KafkaProducer.deliveryTimeout + .seconds(10), lease) / .seconds(1))
    }

    /// Called at every check with the number of checks without progress of each part, on the watchdog's own thread.
    var onLook: @Sendable ([String: Int]) -> Void = { _ in }

    /// Called with the names of the stalled parts, on the watchdog's own thread.
    let onStall: @Sendable ([String]) -> Void

    /// Checks pulses until the worker stops.
    func run() async throws {
        let looks = Mutex(Observations(maxWait: maxWait))
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
        // A task that wakes at the same interval proves that the executor runs tasks; an event could only come from a
        // task.
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
    /// Counts the checks for which each pulse has not changed.
    struct Observations {
        let maxWait: Int
        private var seen: [String: (pulse: Int, count: Int)] = [:]

        init(maxWait: Int) {
            self.maxWait = maxWait
        }

        /// The number of checks for which each part has not changed.
        var standing: [String: Int] { seen.mapValues(\.count) }

        /// Makes one check; returns the names of the parts that are stalled.
        mutating func stalled(_ pulses: [String: Int]) -> [String] {
            seen = Dictionary(
                uniqueKeysWithValues: pulses.map { name, pulse in
                    let last = seen[name]
                    return (name, (pulse, last?.pulse == pulse ? (last?.count ?? 0) + 1 : 0))
                }
            )
            return seen.filter { $0.value.count >= maxWait }.keys.sorted()
        }
    }
}
