// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Logging
import Logs
import ServiceLifecycle
import UnixSignals
import Verification

/// How a worker ends: in order at the first signal, at the end of its time in any case, and at once at the second.
///
/// Ending without order loses nothing: what a worker held is in the database, and others take it over.
///
/// It is a service of the worker's group, which stops when this one returns: a stop that comes before the services run
/// waits until they do. A group that is told to stop before it runs fails instead.
struct Ending: Service {
    let drainTimeout: Duration
    let heartbeat: Heartbeat?
    let logger: Logger
    private let stops: AsyncStream<Void>
    private let stop: AsyncStream<Void>.Continuation

    init(drainTimeout: Duration, heartbeat: Heartbeat?, logger: Logger) {
        self.drainTimeout = drainTimeout
        self.heartbeat = heartbeat
        self.logger = logger
        (stops, stop) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// What is left of the time when services that still work are cancelled.
    var reserve: Duration { min(.seconds(3), drainTimeout / 2) }

    /// Returns at the first signal that is served, or when the group stops for another reason.
    func run() async {
        await cancelWhenGracefulShutdown {
            for await _ in stops { return }
        }
    }

    /// Serves the signals until its task is cancelled.
    func serve(_ signals: some AsyncSequence<UnixSignal, Never>) async {
        var count = 0
        for await signal in signals {
            count += 1
            if count > 1 { endNow(signal) }
            logger.log(.workerStopping, [.workerID: .text(WorkerLog.workerID), .signal: LogValue(signal)])
            // First of all: writing the health file may hang.
            endInTime()
            heartbeat?.stop()
            stop.yield()
        }
    }

    /// The timer has a thread of its own: nothing that hangs can keep it.
    private func endInTime() {
        let time = drainTimeout - min(.milliseconds(500), drainTimeout / 10)
        let queue = DispatchQueue(label: "ending")
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(time.microseconds / 1000))) { [logger] in
            logger.log(.workerDrainTimeout, [.workerID: .text(WorkerLog.workerID)])
            endProcess(0)
        }
    }

    private func endNow(_ signal: UnixSignal) -> Never {
        logger.log(.workerEnded, [.workerID: .text(WorkerLog.workerID), .signal: LogValue(signal)])
        endProcess(128 + signal.rawValue)
    }
}
