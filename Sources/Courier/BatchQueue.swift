// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A queue between two stages: its consumer takes everything that has accumulated, as one batch.
///
/// Batches grow by themselves under load and stay small when idle. One consumer; any number of producers.
final class BatchQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var weight = 0
        var isFinished = false
    }

    private let state = Mutex(State())
    private let signal = Signal()
    private let limit: Int
    private let weigh: @Sendable (Element) -> Int

    /// Makes an empty queue.
    ///
    /// - Parameters:
    ///   - limit: the total weight at which `append` starts to refuse. One append may exceed it.
    ///   - weigh: the weight of an element in limits and batches, at least 1.
    init(limit: Int = .max, weighing weigh: @escaping @Sendable (Element) -> Int = { _ in 1 }) {
        self.limit = limit
        self.weigh = weigh
    }

    /// Adds all elements, whatever their weight, or none when the queue is full or finished.
    @discardableResult
    func append(_ elements: [Element]) -> Bool {
        let weight = elements.reduce(0) { $0 + weigh($1) }
        let isAdded = state.withLock { state in
            guard !state.isFinished, state.weight < limit else { return false }
            state.elements.append(contentsOf: elements)
            state.weight += weight
            return true
        }
        if isAdded { signal.send() }
        return isAdded
    }

    /// Puts back elements that its consumer could not handle yet; works on a finished queue, too.
    func putBack(_ elements: [Element]) {
        let weight = elements.reduce(0) { $0 + weigh($1) }
        state.withLock { state in
            state.elements.append(contentsOf: elements)
            state.weight += weight
        }
    }

    /// Ends the queue: it accepts no more elements, and the remaining ones are still delivered.
    func finish() {
        state.withLock { $0.isFinished = true }
        signal.finish()
    }

    var isFinished: Bool { state.withLock(\.isFinished) }
    var count: Int { state.withLock { $0.elements.count } }
    var weight: Int { state.withLock { $0.weight } }

    /// Batches of at most a given weight, until the queue is finished and empty.
    ///
    /// An element that exceeds the maximum forms a batch alone. A batch below half of the maximum waits once for
    /// `moment` to grow, unless `moment` is zero: a batch costs the database and the broker as much as many of its
    /// elements.
    func batches(
        of maximum: Int,
        after moment: @escaping @Sendable () -> Duration = { .zero },
        pause: @escaping @Sendable (Duration) async -> Void = { moment in
            // Cancellation only shortens the pause: the elements in the queue are delivered all the same.
            try? await Task.sleep(for: moment)
        }
    ) -> Batches {
        Batches(queue: self, maximum: maximum, moment: moment, pause: pause)
    }

    struct Batches: AsyncSequence, Sendable {
        let queue: BatchQueue
        let maximum: Int
        let moment: @Sendable () -> Duration
        let pause: @Sendable (Duration) async -> Void

        func makeAsyncIterator() -> Iterator { Iterator(batches: self) }
    }

    struct Iterator: AsyncIteratorProtocol {
        let batches: Batches

        mutating func next() async -> [Element]? {
            let (queue, maximum) = (batches.queue, batches.maximum)
            while true {
                if queue.count > 0 {
                    let moment = batches.moment()
                    if moment > .zero, queue.weight < maximum / 2 { await batches.pause(moment) }
                    if let batch = queue.take(maximum) { return batch }
                }
                guard await queue.signal.wait() else { return queue.take(maximum) }
            }
        }
    }

    private func take(_ maximum: Int) -> [Element]? {
        state.withLock { state in
            guard let first = state.elements.first else { return nil }
            var (count, weight) = (1, weigh(first))
            while count < state.elements.count {
                let next = weight + weigh(state.elements[count])
                guard next <= maximum else { break }
                (count, weight) = (count + 1, next)
            }
            let batch = Array(state.elements.prefix(count))
            state.elements.removeFirst(count)
            state.weight -= weight
            return batch
        }
    }
}

/// Wakes one waiter, which then checks by itself for work.
///
/// Signals sent while the waiter is awake merge into one, which wakes it once more. Any number of senders.
final class Signal: AsyncSequence, Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func send() { continuation.yield() }

    /// Wakes the waiter for the last time.
    func finish() { continuation.finish() }

    func makeAsyncIterator() -> AsyncStream<Void>.Iterator { stream.makeAsyncIterator() }

    /// Waits for the next signal; false when the task is cancelled or the signal is finished.
    func wait(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        var iterator = makeAsyncIterator()
        return await iterator.next(isolation: isolation) != nil
    }
}
