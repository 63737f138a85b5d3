// SPDX-License-Identifier: Apache-2.0

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
