// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Verification

/// Windows of IP addresses that have reached a limit, remembered so that no batch waits for their locked rows.
///
/// A full window gets no more admissions, so the values that were read stay valid while it is full. If a remembered
/// window would let a request of a batch pass, the batch is decided again with the row locked. A worker reads the row
/// again after a few seconds.
final class FullWindows: Sendable {
    static let memory = Duration.seconds(10)
    private static let most = 10_000

    private struct Window {
        let window: LimitWindow
        let readAt: ContinuousClock.Instant
    }

    private let windows = Mutex<[LimitKey: Window]>([:])

    /// The windows among the keys that were full a moment ago.
    func among(_ keys: [LimitKey], at now: ContinuousClock.Instant = .now) -> [LimitKey: LimitWindow] {
        windows.withLock { windows in
            guard !windows.isEmpty else { return [:] }
            return keys.reduce(into: [:]) { known, key in
                guard let full = windows[key], full.readAt.duration(to: now) < Self.memory else { return }
                known[key] = full.window
            }
        }
    }

    /// Remembers windows that were full when they were read just now.
    func note(_ full: [LimitKey: LimitWindow], at now: ContinuousClock.Instant = .now) {
        guard !full.isEmpty else { return }
        windows.withLock { windows in
            windows = windows.filter { $0.value.readAt.duration(to: now) < Self.memory }
            for (key, window) in full where windows.count < Self.most {
                windows[key] = Window(window: window, readAt: now)
            }
        }
    }

    /// Forgets windows, so that their rows are read again.
    func forget(_ keys: some Sequence<LimitKey>) {
        windows.withLock { windows in
            for key in keys { windows[key] = nil }
        }
    }
}
