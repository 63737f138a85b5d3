// SPDX-License-Identifier: Apache-2.0

/// Wakes one waiter: something may have to be done, which the waiter looks up for itself.
///
/// Signals that come while it is awake are one, and wake it once more. Any number of senders.
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

    /// Waits for the next signal; false when the task is cancelled, or no signal comes any more.
    func wait(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        var iterator = makeAsyncIterator()
        return await iterator.next(isolation: isolation) != nil
    }
}
