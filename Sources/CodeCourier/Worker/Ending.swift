// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Formats
import Logging
import Logs
import ServiceLifecycle
import UnixSignals
import Verification

/// Ends a worker: gracefully at the first signal, with a timeout, and at once at the second signal.
///
/// An abrupt end loses nothing: the worker's sends are in the database, and other workers take them over.
///
/// It is a service of the worker's group, and the group stops when this service returns. So a stop during the start
/// waits until all services run; a group that is stopped directly would fail at that moment.
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

    /// The time before the timeout at which services that still work are cancelled.
    var reserve: Duration { min(.seconds(3), drainTimeout / 2) }

    /// Returns at the first signal, or when the group stops for another reason.
    func run() async {
        await cancelWhenGracefulShutdown {
            for await _ in stops { return }
        }
    }

    /// Handles signals until its task is cancelled.
    func serve(_ signals: some AsyncSequence<UnixSignal, Never>) async {
        var count = 0
        for await signal in signals {
            count += 1
            if count > 1 { endNow(signal) }
            logger.log(.workerStopping, [.signal: LogValue(signal)])
            // Before anything else, since writing the health file may hang.
            endInTime()
            heartbeat?.stop()
            stop.yield()
        }
    }

    /// Starts the timeout, on a thread of its own that no hanging service can block.
    private func endInTime() {
        let time = drainTimeout - min(.milliseconds(500), drainTimeout / 10)
        let queue = DispatchQueue(label: "ending")
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(time.microseconds / 1000))) { [logger] in
            logger.log(.workerDrainTimeout)
            endProcess(0)
        }
    }

    private func endNow(_ signal: UnixSignal) -> Never {
        logger.log(.workerEnded, [.signal: LogValue(signal)])
        endProcess(128 + signal.rawValue)
    }
}
