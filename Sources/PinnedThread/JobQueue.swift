// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The queued jobs of one thread.
// SAFETY: every stored property is read and written with `mutex` held; the mutex and the condition live until `deinit`,
// which runs when neither the executor nor its thread holds the queue any more.
@safe final class JobQueue: @unchecked Sendable {
    // SAFETY: a job keeps its actor alive, the actor its executor: the reference is valid until the job has run.
    @safe private struct Entry {
        let job: UnownedJob
        let executor: UnownedSerialExecutor
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var entries: [Entry] = []
    private var isClosed = false
    private var interrupt: (@Sendable () -> Void)?

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    func append(_ job: UnownedJob, executor: UnownedSerialExecutor) {
        locked {
            unsafe entries.append(Entry(job: job, executor: executor))
            interrupt?()
            unsafe pthread_cond_signal(condition)
        }
    }

    func setInterrupt(_ interrupt: @escaping @Sendable () -> Void) {
        locked { self.interrupt = interrupt }
    }

    func close() {
        locked {
            isClosed = true
            unsafe pthread_cond_signal(condition)
        }
    }

    /// Runs jobs in order until the queue is closed and empty.
    func run() {
        while let batch = next() {
            for entry in batch {
                unsafe entry.job.runSynchronously(on: entry.executor)
            }
        }
    }

    private func next() -> [Entry]? {
        locked {
            while entries.isEmpty {
                if isClosed { return nil }
                unsafe pthread_cond_wait(condition, mutex)
            }
            defer { entries.removeAll(keepingCapacity: true) }
            return entries
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }
}
