// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Runs tasks on the thread of an event loop, so that a call to a provider and its task never change threads.
///
/// A task that blocks here blocks every provider: only what waits for the outside belongs here.
package final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
