// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import Courier

@Suite(.timeLimit(.minutes(1))) struct BatchQueueTests {
    @Test func `a consumer takes what has come meanwhile, up to its maximum and in order`() async {
        let queue = BatchQueue<Int>()
        queue.append([1, 2, 3])
        queue.append([4, 5])
        #expect(queue.count == 5)
        var batches = queue.batches(of: 4).makeAsyncIterator()
        #expect(await batches.next() == [1, 2, 3, 4])
        #expect(await batches.next() == [5])
    }

    @Test func `a consumer that waits gets the next element`() async {
        let queue = BatchQueue<Int>()
        async let batch: [Int]? = {
            var batches = queue.batches(of: 10).makeAsyncIterator()
            return await batches.next()
        }()
        queue.append([7])
        #expect(await batch == [7])
    }

    @Test func `a small batch waits for what comes within a moment, where there is one`() async {
        let queue = BatchQueue<Int>()
        let pauses = Mutex(0)
        let moment = Mutex(Duration.seconds(1))
        let pause: @Sendable (Duration) async -> Void = { _ in
            pauses.withLock { $0 += 1 }
            queue.append([2])
        }
        var batches = queue.batches(of: 4, after: { moment.withLock { $0 } }, pause: pause).makeAsyncIterator()
        queue.append([1])
        #expect(await batches.next() == [1, 2])
        queue.append([3, 4])
        #expect(await batches.next() == [3, 4], "half of the maximum is enough")
        moment.withLock { $0 = .zero }
        queue.append([5])
        #expect(await batches.next() == [5])
        #expect(pauses.withLock { $0 } == 1)
    }

    @Test func `a finished queue is emptied first, and takes no more`() async {
        let queue = BatchQueue<Int>()
        queue.append([1, 2, 3])
        queue.finish()
        #expect(!queue.append([4]))
        var taken: [[Int]] = []
        for await batch in queue.batches(of: 2) { taken.append(batch) }
        #expect(taken == [[1, 2], [3]])
    }

    @Test func `a consumer puts back what it could not handle, even when the queue is finished`() async {
        let queue = BatchQueue<Int>()
        queue.append([1, 2, 3])
        queue.finish()
        var batches = queue.batches(of: 2).makeAsyncIterator()
        #expect(await batches.next() == [1, 2])
        queue.putBack([2])
        #expect(await batches.next() == [3, 2])
        #expect(queue.weight == 0)
        #expect(await batches.next() == nil)
    }

    @Test func `a queue that has room takes all of a batch, however heavy, and a full one nothing of it`() {
        let queue = BatchQueue<Int>(limit: 3)
        #expect(queue.append([1, 2]))
        #expect(queue.append([3, 4, 5, 6, 7]))
        #expect(!queue.append([8]))
        #expect(queue.count == 7)
    }

    @Test func `what weighs more leaves less room, and goes in smaller batches`() async {
        let queue = BatchQueue<Int>(limit: 10) { $0 }
        #expect(queue.append([1, 2, 5, 1]))
        #expect(queue.append([1]))
        #expect(!queue.append([1]))
        #expect(queue.weight == 10 && queue.count == 5)
        queue.finish()
        var batches: [[Int]] = []
        for await batch in queue.batches(of: 3) { batches.append(batch) }
        #expect(batches == [[1, 2], [5], [1, 1]])
        #expect(queue.weight == 0)
    }

    @Test func `nothing is lost or repeated among many producers, and each keeps its order`() async {
        let queue = BatchQueue<[Int]>()
        let (producers, each) = (8, 500)
        await withDiscardingTaskGroup { group in
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for producer in 0..<producers {
                        group.addTask {
                            for number in 0..<each {
                                queue.append([[producer, number]])
                                if number.isMultiple(of: 50) { await Task.yield() }
                            }
                        }
                    }
                }
                queue.finish()
            }
            var next = [Int](repeating: 0, count: producers)
            for await batch in queue.batches(of: 64) {
                #expect(batch.count <= 64)
                for element in batch {
                    #expect(next[element[0]] == element[1])
                    next[element[0]] = element[1] + 1
                }
            }
            #expect(next == [Int](repeating: each, count: producers))
        }
    }
}
