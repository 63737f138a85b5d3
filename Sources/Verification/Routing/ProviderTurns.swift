// SPDX-License-Identifier: Apache-2.0

/// Who waits for a turn of which provider in one worker, and the turns that the worker holds.
///
/// Messages come in by `enter`, ask for turns by `wanted`, and go by `granted`. A provider without a limit lets
/// everybody go. Turns that nobody uses are forgotten soon: an idle worker must not hoard what others wait for.
///
/// No more wait than may get a turn in their patience. Who gets none and goes nowhere else is told how long to stay away:
/// the longer, the more have been sent away before.
package struct ProviderTurns<Waiter: Sendable>: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// How long a message waits for its turn.
    package static var patience: Duration { .seconds(1) }

    /// How long a message that got no turn stays away, at least and at most.
    package static var shortestAbsence: Duration { .seconds(2) }
    package static var longestAbsence: Duration { .seconds(10) }

    /// How long a turn may be kept.
    package static var shelfLife: Duration { .seconds(1) }

    /// One worker asks for what a provider takes in this time, so that all get their share.
    package static var chunk: Duration { .milliseconds(250) }

    /// The shortest time from one answer to the next question.
    package static var interval: Duration { .milliseconds(50) }

    private struct Line: Sendable {
        let rate: RateLimit

        /// How many may wait: as many as there are turns in their patience, and may be left from before it.
        let places: Int

        /// When those who were sent away could have had their turns.
        var owedUntil: Instant
        var waiters: [(waiter: Waiter, until: Instant)] = []
        var held = 0
        var heldUntil: Instant
        var nextQuestion: Instant
        var isAsking = false

        init(rate: RateLimit, at now: Instant) {
            self.rate = rate
            places = rate.turns(in: ProviderTurns.patience * 2)
            (owedUntil, heldUntil, nextQuestion) = (now, now, now)
        }
    }

    package enum Entry: Sendable, Equatable {
        case go

        /// The waiter is in the line and comes back from `granted` or `expired`.
        case waits

        /// So many wait already that there is no turn for this one.
        case isFull
    }

    private var lines: [String: Line]

    /// - Parameters:
    ///   - rates: the limits by provider; others have none.
    ///   - now: the beginning.
    package init(rates: [String: RateLimit], at now: Instant) {
        lines = rates.mapValues { Line(rate: $0, at: now) }
    }

    /// Takes a turn that is held, or puts the waiter in the line until a time, where there is a place.
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

    /// What to ask the fleet's store for now; the answer, or its failure, has to come back.
    package mutating func wanted(at now: Instant) -> [String: TurnRequest] {
        var wanted: [String: TurnRequest] = [:]
        for (name, line) in lines where !line.isAsking && !line.waiters.isEmpty && line.nextQuestion <= now {
            let count = min(line.waiters.count, line.rate.turns(in: Self.chunk))
            wanted[name] = TurnRequest(count: count, rate: line.rate)
            lines[name]?.isAsking = true
        }
        return wanted
    }

    /// When there may be something to ask for or somebody to send away; nil while nobody waits.
    package var nextEvent: Instant? {
        lines.values.compactMap { line in
            guard let first = line.waiters.map(\.until).min() else { return nil }
            return line.isAsking ? first : min(first, line.nextQuestion)
        }.min()
    }

    /// Takes what was given and returns those who go, in the order in which they came.
    package mutating func granted(_ grants: [String: TurnGrant], at now: Instant) -> [Waiter] {
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

    /// Takes the failure of a question: it is asked again after a while.
    package mutating func failed(_ wanted: some Sequence<String>, at now: Instant) {
        for name in wanted {
            lines[name]?.isAsking = false
            lines[name]?.nextQuestion = now + Self.shelfLife
        }
    }

    /// Returns those whose time is over; they are passed over.
    package mutating func expired(at now: Instant) -> [Waiter] {
        var gone: [Waiter] = []
        for (name, line) in lines where line.waiters.contains(where: { $0.until <= now }) {
            gone += line.waiters.filter { $0.until <= now }.map(\.waiter)
            lines[name]?.waiters.removeAll { $0.until <= now }
        }
        return gone
    }

    /// Counts a message that comes back for a turn, and returns how long it is to stay away.
    package mutating func sendAway(from provider: String, at now: Instant) -> Duration {
        guard let line = lines[provider] else { return Self.shortestAbsence }
        let owedUntil = min(max(line.owedUntil, now) + line.rate.turn, now + Self.longestAbsence)
        lines[provider]?.owedUntil = owedUntil
        return max(now.duration(to: owedUntil), Self.shortestAbsence)
    }

    /// Whether some provider could not have served all by now that were sent away.
    package func isOverfull(at now: Instant) -> Bool {
        lines.values.contains { $0.owedUntil > now }
    }
}

extension RateLimit {
    /// The turns of a time, one at least.
    fileprivate func turns(in time: Duration) -> Int {
        let product = Int64(count).multipliedReportingOverflow(by: time.microseconds)
        let turns = product.overflow ? Int64.max : product.partialValue / max(1, per.microseconds)
        return max(1, Int(clamping: turns))
    }

    /// The time of one turn.
    fileprivate var turn: Duration { per / max(1, count) }
}
