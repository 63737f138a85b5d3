// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka
import Glibc
import Synchronization

/// Destroys a client on a thread of its own: the library joins its threads there, and sometimes never returns.
// SAFETY: the creator passes the pointers on and never uses them again; only the new thread uses them, once, in
// `perform`.
@safe final class ClientDestruction {
    private let client: OpaquePointer
    private let queues: [OpaquePointer]
    private let isDone = Atomic<Bool>(false)

    init(client: OpaquePointer, queues: [OpaquePointer]) {
        unsafe self.client = client
        unsafe self.queues = queues
    }

    /// Starts without waiting.
    func start() {
        var thread = pthread_t()
        // SAFETY: the new thread takes the one retain made here.
        let argument = unsafe Unmanaged.passRetained(self)
        let status = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<ClientDestruction>.fromOpaque(argument).takeRetainedValue().perform()
                return nil
            },
            argument.toOpaque()
        )
        if status == 0 {
            pthread_detach(thread)
        } else {
            unsafe argument.release()
            perform()
        }
    }

    /// Starts and waits; false when the limit passed first.
    func run(within limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        start()
        while !isDone.load(ordering: .acquiring) {
            if ContinuousClock.now >= deadline { return false }
            // Poll instead of joining, since the destroying thread may hang in the library forever. 200 µs is short
            // compared to the milliseconds that a destruction takes, and destructions are too rare to justify a lock
            // and a signal.
            usleep(200)
        }
        return true
    }

    private func perform() {
        for index in unsafe queues.indices { unsafe rd_kafka_queue_destroy(queues[index]) }
        unsafe rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
        isDone.store(true, ordering: .releasing)
    }
}
