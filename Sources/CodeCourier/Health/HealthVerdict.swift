// SPDX-License-Identifier: Apache-2.0

import Verification

/// What a worker's state says to who asks now.
struct HealthVerdict: Sendable, Equatable {
    /// The process gets on; one that does not is to be started anew.
    let isLive: Bool

    /// It can do its work; one that cannot waits for something that a new start would not bring.
    let isReady: Bool

    /// Why not, or what it does.
    let summary: String

    /// How old the state is; nil without one.
    let age: Duration?

    /// After so long without a new state the worker is taken for dead: fifteen looks.
    static let patience = Duration.seconds(15)

    /// Judges a file that gives no state: it is a dead worker's.
    init(without state: TextFile.Unreadable) {
        self.init(isLive: false, isReady: false, summary: "the health file \(state.reason)", age: nil)
    }

    /// Judges a state.
    init(of state: WorkerState, at now: MonotonicTime) {
        guard let age = now.elapsed(since: state.clock) else {
            self.init(isLive: false, isReady: false, summary: "the state is from before a restart", age: nil)
            return
        }
        guard age <= Self.patience else {
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
    /// One line for a program.
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

    /// One line for a person.
    var text: String {
        "\(isLive ? "live" : "not live"), \(isReady ? "ready" : "not ready"): \(summary)"
    }
}
