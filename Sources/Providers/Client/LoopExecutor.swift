// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// Runs tasks on the thread of an event loop, so that a call to a provider and its task never change threads.
///
/// A task that blocks here blocks every provider: only what waits for the outside belongs here.
package final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    /// What runs in the loop's next turn, which is asked for when the first one comes.
    private let jobs = Mutex<[UnownedJob]>([])

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = jobs.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if isFirst { loop.execute { self.runJobs() } }
    }

    /// Runs those that have come; what comes meanwhile has a turn of its own.
    private func runJobs() {
        let turn = jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in turn { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
