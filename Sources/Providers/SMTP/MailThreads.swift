// SPDX-License-Identifier: Apache-2.0

import NIOPosix
import SMTPClient

/// A fixed number of threads for calls that block; they end when the owner is released.
final class MailThreads: Sendable {
    private let pool: NIOThreadPool

    init(count: Int) {
        pool = NIOThreadPool(numberOfThreads: max(1, count))
        pool.start()
    }

    deinit {
        // Calls in progress end by themselves; nobody waits for the threads, and there is nothing to do about an error.
        pool.shutdownGracefully { _ in }
    }

    /// Runs a call when a thread is free, in order, unless nobody wants it any more by then.
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
