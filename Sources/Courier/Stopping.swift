// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle

/// Waits until the service group shuts this service down, or its task is cancelled.
///
/// A stage may be done before the group shuts it down, as soon as the previous stage has finished its queue. To return
/// early would count as a failure of the service.
func waitForShutdown() async {
    do {
        try await gracefulShutdown()
    } catch {
        // Cancelled: end now, without a graceful shutdown.
    }
}

extension Task where Success == Never, Failure == Never {
    static var isStopping: Bool { isShuttingDownGracefully || isCancelled }

    /// Sleeps until a time, for work that becomes due without a signal; a shutdown ends the sleep.
    static func pause(until end: ContinuousClock.Instant) async {
        try? await cancelWhenGracefulShutdown { try await sleep(until: end, clock: .continuous) }
    }
}
