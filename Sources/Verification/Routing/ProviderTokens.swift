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
    package static var shortestAbsence: Duration { .seconds(2) }
    package static var longestAbsence: Duration { .seconds(10) }

    /// The time after which an unused token expires.
    package static var shelfLife: Duration { .seconds(1) }

    /// The time whose tokens one worker requests at once, so that all workers get their share.
    package static var chunk: Duration { .milliseconds(250) }

    /// The minimum time from one answer to the next request.
    package static var interval: Duration { .milliseconds(50) }

    private struct Line: Sendable {
        let rate: RateLimit

        /// The capacity of the queue: twice the tokens of the maximum wait, since unused ones may be left from before.
        let places: Int

        /// The time by which the provider could have served all messages that back off.
        var owedUntil: Instant
        var waiters: [(waiter: Waiter, until: Instant)] = []
        var held = 0
        var heldUntil: Instant
        var nextQuestion: Instant
        var isAsking = false

        init(rate: RateLimit, at now: Instant) {
            self.rate = rate
            places = rate.turns(in: ProviderTokens.maxWait * 2)
            (owedUntil, heldUntil, nextQuestion) = (now, now, now)
        }
    }

    package enum Entry: Sendable, Equatable {
        case go

        /// The message is in the queue; `granted` or `expired` returns it.
        case waits

        /// The queue is full: there would be no token for this message.
        case isFull
    }

    private var lines: [String: Line]

    /// - Parameters:
    ///   - rates: the limits by provider; a provider without an entry has none.
    ///   - now: the current time.
    package init(rates: [String: RateLimit], at now: Instant) {
        lines = rates.mapValues { Line(rate: $0, at: now) }
    }

    /// Uses a held token, or adds the waiter to the queue until a time if there is room.
    package mutating func enter(_ provider: String, _ waiter: Waiter, until: Instant, at now: Instant) -> Entry {
        guard var line = lines.removeValue(forKey: provider) else { return .go }
        defer { lines[provider] = line }
        if line.waiters.isEmpty, line.held > 0, now < line.heldUntil {
            line.held -= 1
            return .go
        }
        guard line.waiters.count < line.places else { return .isFull }
        line.waiters.append((waiter, until))
        return .waits
    }

    /// The tokens to request from the fleet's store now; each request must end in `granted` or `failed`.
    package mutating func wanted(at now: Instant) -> [String: TokenRequest] {
        var wanted: [String: TokenRequest] = [:]
        for (name, line) in lines where !line.isAsking && !line.waiters.isEmpty && line.nextQuestion <= now {
            let count = min(line.waiters.count, line.rate.turns(in: Self.chunk))
            wanted[name] = TokenRequest(count: count, rate: line.rate)
            lines[name]?.isAsking = true
        }
        return wanted
    }

    /// The time of the next possible request or expiry; nil if no message waits.
    package var nextEvent: Instant? {
        lines.values.compactMap { line in
            guard let first = line.waiters.map(\.until).min() else { return nil }
            return line.isAsking ? first : min(first, line.nextQuestion)
        }.min()
    }

    /// Adds granted tokens and returns the messages that may be sent, in the order of their arrival.
    package mutating func granted(_ grants: [String: TokenGrant], at now: Instant) -> [Waiter] {
        var going: [Waiter] = []
        for (name, grant) in grants {
            guard var line = lines.removeValue(forKey: name) else { continue }
            let count = min(max(grant.count, 0), line.waiters.count)
            going += line.waiters.prefix(count).map(\.waiter)
            line.waiters.removeFirst(count)
            line.held = grant.count - count
            line.heldUntil = now + Self.shelfLife
            line.isAsking = false
            line.nextQuestion = now + max(grant.nextAfter, Self.interval)
            lines[name] = line
        }
        return going
    }

    /// Records that a request failed: it is repeated after a while.
    package mutating func failed(_ wanted: some Sequence<String>, at now: Instant) {
        for name in wanted {
            lines[name]?.isAsking = false
            lines[name]?.nextQuestion = now + Self.shelfLife
        }
    }

    /// Removes and returns the messages whose maximum wait is over; they skip the provider.
    package mutating func expired(at now: Instant) -> [Waiter] {
        var gone: [Waiter] = []
        for (name, line) in lines where line.waiters.contains(where: { $0.until <= now }) {
            gone += line.waiters.filter { $0.until <= now }.map(\.waiter)
            lines[name]?.waiters.removeAll { $0.until <= now }
        }
        return gone
    }

    /// Counts a message that backs off, and returns for how long.
    package mutating func retryAfter(from provider: String, at now: Instant) -> Duration {
        guard let line = lines[provider] else { return Self.shortestAbsence }
        let owedUntil = min(max(line.owedUntil, now) + line.rate.turn, now + Self.longestAbsence)
        lines[provider]?.owedUntil = owedUntil
        return max(now.duration(to: owedUntil), Self.shortestAbsence)
    }

    /// True if more messages back off from some provider than it could have served by now.
    package func isOverfull(at now: Instant) -> Bool {
        lines.values.contains { $0.owedUntil > now }
    }
}

extension RateLimit {
    /// The tokens of a span of time, at least one.
    fileprivate func turns(in time: Duration) -> Int {
        let product = Int64(count).multipliedReportingOverflow(by: time.microseconds)
        let turns = product.overflow ? Int64.max : product.partialValue / max(1, per.microseconds)
        return max(1, Int(clamping: turns))
    }

    /// The time between two tokens.
    fileprivate var turn: Duration { per / max(1, count) }
}
