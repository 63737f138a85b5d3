// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle

/// Waits until it is this service's turn to stop, or its task is cancelled.
///
/// A stage whose queue was finished by the stage before is done a moment earlier than the group asks it to stop; to
/// return then would be taken for a failure.
func waitForShutdown() async {
    do {
        try await gracefulShutdown()
    } catch {
        // Cancelled: the service ends now, whoever's turn it is.
    }
}

extension Task where Success == Never, Failure == Never {
    /// Whether the service that runs this is to stop.
    static var isStopping: Bool { isShuttingDownGracefully || isCancelled }

    /// Waits for what becomes due by time alone, which no signal tells; a stop ends it at once.
    static func pause(until end: ContinuousClock.Instant) async {
        try? await cancelWhenGracefulShutdown { try await sleep(until: end, clock: .continuous) }
    }
}
