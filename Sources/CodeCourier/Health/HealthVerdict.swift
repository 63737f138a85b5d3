// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// The health of a worker, judged from its state.
struct HealthVerdict: Sendable, Equatable {
    /// False when the process is stalled and needs a restart.
    let isLive: Bool

    /// True when the worker can process requests; if not, it waits for something that a restart would not fix.
    let isReady: Bool

    /// The reason why it is not live or ready, or else its activity.
    let summary: String

    /// The age of the state; nil without one.
    let age: Duration?

    /// The maximum age of the state of a live worker: fifteen checks of its watchdog.
    static let maxWait = Duration.seconds(15)

    /// Judges a missing or unreadable file: its worker counts as dead.
    init(without state: TextFile.Unreadable) {
        self.init(isLive: false, isReady: false, summary: "the health file \(state.reason)", age: nil)
    }

    /// Judges a state by its age and content.
    init(of state: WorkerState, at now: MonotonicTime) {
        guard let age = now.elapsed(since: state.clock) else {
            self.init(isLive: false, isReady: false, summary: "the state is from before a restart", age: nil)
            return
        }
        guard age <= Self.maxWait else {
            let seconds = age.components.seconds
            self.init(isLive: false, isReady: false, summary: "the state is \(seconds) s old", age: age)
            return
        }
        let isLive = state.late.isEmpty
        self.init(
            isLive: isLive,
            isReady: isLive && state.hasAllNeeds && !state.isStopping,
            summary: state.summary,
            age: age
        )
    }

    private init(isLive: Bool, isReady: Bool, summary: String, age: Duration?) {
        self.isLive = isLive
        self.isReady = isReady
        self.summary = summary
        self.age = age
    }
}

extension HealthVerdict {
    func json() -> [UInt8] {
        var writer = JSONWriter(reserving: 128)
        writer.object { line in
            line.member("live", isLive)
            line.member("ready", isReady)
            line.member("summary", summary)
            line.member("age_ms", ifPresent: age.map { Int($0.microseconds / 1000) })
        }
        return writer.bytes
    }

    var text: String {
        "\(isLive ? "live" : "not live"), \(isReady ? "ready" : "not ready"): \(summary)"
    }
}
