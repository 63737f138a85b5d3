// SPDX-License-Identifier: Apache-2.0

import NIOPosix
import SMTPClient

/// A fixed number of threads for blocking calls; they end when the owner is released.
final class MailThreads: Sendable {
    private let pool: NIOThreadPool

    init(count: Int) {
        pool = NIOThreadPool(numberOfThreads: max(1, count))
        pool.start()
    }

    deinit {
        // Calls in progress end by themselves; nothing waits for the threads, and an error has no remedy.
        pool.shutdownGracefully { _ in }
    }

    /// Runs a call on the next free thread, in order, unless it was given up by then.
    func submit(_ call: SMTPCall, _ work: @escaping @Sendable () -> Void) {
        pool.submit { state in
            if case .active = state, call.begin() {
                work()
            } else {
                call.giveUp(.cancelled)
            }
        }
    }
}
