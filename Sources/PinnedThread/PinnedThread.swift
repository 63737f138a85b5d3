// SPDX-License-Identifier: Apache-2.0

import Glibc

/// One operating-system thread as the executor of an actor.
///
/// A blocking C handle belongs to one thread: the actor that owns the handle returns this executor, so that its calls
/// may block without holding one of the cooperative pool's few threads. The thread ends when the executor is released.
package final class PinnedThread: SerialExecutor {
    private let queue: JobQueue

    package init() {
        queue = JobQueue()
        Self.start(queue)
    }

    deinit {
        queue.close()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        unsafe queue.append(UnownedJob(job), executor: asUnownedSerialExecutor())
    }

    /// Sets the closure that wakes the thread while one of its jobs blocks, so that a newly enqueued job can run.
    ///
    /// The closure runs on the caller's thread, under the executor's lock: it may only wake (for example by
    /// `rd_kafka_queue_yield`). Attach another closure before the objects that it uses are destroyed; when that call
    /// returns, no thread is inside the old closure and none will enter it again.
    package func attachInterrupt(_ interrupt: @escaping @Sendable () -> Void) {
        queue.setInterrupt(interrupt)
    }

    private static func start(_ queue: JobQueue) {
        var thread = pthread_t()
        // SAFETY: the new thread takes the one retain made here.
        let status = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<JobQueue>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            Unmanaged.passRetained(queue).toOpaque()
        )
        precondition(status == 0, "the system refused a thread (pthread_create: \(status))")
        pthread_detach(thread)
    }
}
