// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// Runs tasks on the thread of an event loop, so that a call to a provider and its task never switch threads.
///
/// A task that blocks here blocks every provider: use it only for tasks that await I/O.
package final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    /// The jobs of the loop's next run, which the first of them schedules.
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

    /// Runs the queued jobs; jobs enqueued meanwhile are run in a later turn of the loop.
    private func runJobs() {
        let turn = jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in turn { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
