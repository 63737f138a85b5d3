// SPDX-License-Identifier: Apache-2.0

import Glibc
import PinnedThread
import Testing

struct PinnedThreadTests {
    private actor Worker {
        private let thread = PinnedThread()
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        func threadIdentifier() -> pthread_t { pthread_self() }
    }

    @Test func `an actor's jobs all run on one thread, and another actor's on another`() async {
        let workers = [Worker(), Worker()]
        var seen: [Set<pthread_t>] = []
        for worker in workers {
            let threads = await withTaskGroup(of: pthread_t.self) { group in
                for _ in 0..<200 { group.addTask { await worker.threadIdentifier() } }
                return await group.reduce(into: Set<pthread_t>()) { $0.insert($1) }
            }
            seen.append(threads)
        }
        #expect(seen.map(\.count) == [1, 1])
        #expect(seen[0].isDisjoint(with: seen[1]))
    }
}
