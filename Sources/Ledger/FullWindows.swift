// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Verification

/// Windows of IP addresses that had come to a limit, so that no batch waits for their rows while others hold them.
///
/// Nobody adds to a window that is full: for as long as it stays so, what was read is what the row holds. A batch that would
/// be let through by what stands here is decided again with the row locked. A worker looks at the row itself every few
/// seconds.
final class FullWindows: Sendable {
    static let memory = Duration.seconds(10)
    private static let most = 10_000

    private struct Window {
        let window: LimitWindow
        let readAt: ContinuousClock.Instant
    }

    private let windows = Mutex<[LimitKey: Window]>([:])

    /// Those of the keys whose window was full a moment ago.
    func among(_ keys: [LimitKey], at now: ContinuousClock.Instant = .now) -> [LimitKey: LimitWindow] {
        windows.withLock { windows in
            guard !windows.isEmpty else { return [:] }
            return keys.reduce(into: [:]) { known, key in
                guard let full = windows[key], full.readAt.duration(to: now) < Self.memory else { return }
                known[key] = full.window
            }
        }
    }

    /// Takes windows that were full when they were read now.
    func note(_ full: [LimitKey: LimitWindow], at now: ContinuousClock.Instant = .now) {
        guard !full.isEmpty else { return }
        windows.withLock { windows in
            windows = windows.filter { $0.value.readAt.duration(to: now) < Self.memory }
            for (key, window) in full where windows.count < Self.most {
                windows[key] = Window(window: window, readAt: now)
            }
        }
    }

    /// From now on their rows are looked at again.
    func forget(_ keys: some Sequence<LimitKey>) {
        windows.withLock { windows in
            for key in keys { windows[key] = nil }
        }
    }
}
