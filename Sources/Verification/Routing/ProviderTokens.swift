// SPDX-License-Identifier: Apache-2.0

import Formats

/// The messages of one worker that wait for rate-limit tokens of their provider, and the tokens that the worker holds.
///
/// A message enters its provider's queue by `enter`; `wanted` returns the tokens to request, and `granted` the messages
/// that may be sent. A provider without a limit needs no tokens. Unused tokens expire soon: an idle worker must not
/// hoard tokens that other workers need.
///
/// A queue admits no more messages than can get a token within their maximum wait. A message that gets no token and
/// cannot use another provider backs off, and the delay grows with the number of messages that back off already.
package struct ProviderTokens<Waiter: Sendable>: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// The maximum time that a message waits for a token.
    package static var maxWait: Duration { .seconds(1) }

    /// The shortest and the longest backoff of a message that got no token.
    package static var shortestBackoff: Duration { .seconds(2) }
    package static var longestBackoff: Duration { .seconds(10) }

    /// The time after which an unused token expires.
    package static var shelfLife: Duration { .seconds(1) }

    /// The time whose tokens one worker requests at once, so that all workers get their share.
    package static var chunk: Duration { .milliseconds(250) }

    /// The minimum time from one answer to the next request.
    package static var interval: Duration { .milliseconds(50) }

    private struct Queue: Sendable {
        let rate: RateLimit

        /// The capacity of the queue: twice the tokens of the maximum wait, since unused ones may be left from before.
        let places: Int

        /// The time by which the provider could have served all messages that back off.
        var owedUntil: Instant
        var waiters: [(waiter: Waiter, until: Instant)] = []
        var held = 0
        var heldUntil: Instant
        var nextRequest: Instant
        var isRequesting = false

        init(rate: RateLimit, at now: Instant) {
            self.rate = rate
            places = rate.tokens(in: ProviderTokens.maxWait * 2)
            (owedUntil, heldUntil, nextRequest) = (now, now, now)
        }
    }

    package enum Entry: Sendable, Equatable {
        case go

        /// The message is in the queue; `granted` or `expired` returns it.
        case waits

        /// The queue is full: there would be no token for this message.
        case isFull
    }

    private var queues: [String: Queue]

    /// - Parameters:
    ///   - rates: the limits by provider; a provider without an entry has none.
    ///   - now: the current time.
    package init(rates: [String: RateLimit], at now: Instant) {
        queues = rates.mapValues { Queue(rate: $0, at: now) }
    }

    /// Uses a held token, or adds the waiter to the queue until a time unless it is full.
    package mutating func enter(_ provider: String, _ waiter: Waiter, until: Instant, at now: Instant) -> Entry {
        guard var queue = queues.removeValue(forKey: provider) else { return .go }
        defer { queues[provider] = queue }
        if queue.waiters.isEmpty, queue.held > 0, now < queue.heldUntil {
            queue.held -= 1
            return .go
        }
        guard queue.waiters.count < queue.places else { return .isFull }
        queue.waiters.append((waiter, until))
        return .waits
    }

    /// The tokens to request from the fleet's store now; each request must end in `granted` or `failed`.
    package mutating func wanted(at now: Instant) -> [String: TokenRequest] {
        var wanted: [String: TokenRequest] = [:]
        for (name, queue) in queues where !queue.isRequesting && !queue.waiters.isEmpty && queue.nextRequest <= now {
            let count = min(queue.waiters.count, queue.rate.tokens(in: Self.chunk))
            wanted[name] = TokenRequest(count: count, rate: queue.rate)
            queues[name]?.isRequesting = true
        }
        return wanted
    }

    /// The time of the next possible request or expiry; nil if no message waits.
    package var nextEvent: Instant? {
        queues.values.compactMap { queue in
            guard let first = queue.waiters.map(\.until).min() else { return nil }
            return queue.isRequesting ? first : min(first, queue.nextRequest)
        }.min()
    }

    /// Adds granted tokens and returns the messages that may be sent, in the order of their arrival.
    package mutating func granted(_ grants: [String: TokenGrant], at now: Instant) -> [Waiter] {
        var going: [Waiter] = []
        for (name, grant) in grants {
            guard var queue = queues.removeValue(forKey: name) else { continue }
            let count = min(max(grant.count, 0), queue.waiters.count)
            going += queue.waiters.prefix(count).map(\.waiter)
            queue.waiters.removeFirst(count)
            queue.held = grant.count - count
            queue.heldUntil = now + Self.shelfLife
            queue.isRequesting = false
            queue.nextRequest = now + max(grant.nextAfter, Self.interval)
            queues[name] = queue
        }
        return going
    }

    /// Records that a request failed: it is repeated after a while.
    package mutating func failed(_ wanted: some Sequence<String>, at now: Instant) {
        for name in wanted {
            queues[name]?.isRequesting = false
            queues[name]?.nextRequest = now + Self.shelfLife
        }
    }

    /// Removes and returns the messages whose maximum wait is over; they skip the provider.
    package mutating func expired(at now: Instant) -> [Waiter] {
        var gone: [Waiter] = []
        for (name, queue) in queues where queue.waiters.contains(where: { $0.until <= now }) {
            gone += queue.waiters.filter { $0.until <= now }.map(\.waiter)
            queues[name]?.waiters.removeAll { $0.until <= now }
        }
        return gone
    }

    /// Counts a message that backs off, and returns for how long.
    package mutating func retryAfter(from provider: String, at now: Instant) -> Duration {
        guard let queue = queues[provider] else { return Self.shortestBackoff }
        let owedUntil = min(max(queue.owedUntil, now) + queue.rate.interval, now + Self.longestBackoff)
        queues[provider]?.owedUntil = owedUntil
        return max(now.duration(to: owedUntil), Self.shortestBackoff)
    }

    /// True if more messages back off from some provider than it could have served by now.
    package func isOverfull(at now: Instant) -> Bool {
        queues.values.contains { $0.owedUntil > now }
    }
}

extension RateLimit {
    /// The tokens of a span of time, at least one.
    fileprivate func tokens(in time: Duration) -> Int {
        let product = Int64(count).multipliedReportingOverflow(by: time.microseconds)
        let tokens = product.overflow ? Int64.max : product.partialValue / max(1, per.microseconds)
        return max(1, Int(clamping: tokens))
    }

    /// The time between two tokens.
    fileprivate var interval: Duration { per / max(1, count) }
}
