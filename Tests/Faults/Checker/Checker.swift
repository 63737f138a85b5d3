// SPDX-License-Identifier: Apache-2.0

/// Checks a finished history for broken invariants, and counts events that are allowed to happen.
struct Checker {
    struct Counts: Hashable, Sendable {
        var requests = 0
        var lost = 0
        var duplicateMessages = 0
        var unknown = 0
        var staleWrites = 0
        var secondCodes = 0
        var lateSends = 0
        var refusedSends = 0
    }

    let history: History

    /// True when sends with an unknown outcome are repeated (`worker.unknownOutcome: resend_once`).
    var repeatsUnknown = false

    /// Time between a send's mark, which is checked against its deadline, and the last byte at the provider.
    ///
    /// A worker that is paused longer in between breaks no rule that it could have kept.
    var slack = Duration.seconds(2)

    var counts = Counts()
    private(set) var violations: [Violation] = []

    /// The decisions of each request; a redelivered event counts once.
    ///
    /// An unknown outcome does not count if a later event settles it, nor a pending send whose outcome came.
    let decisions: [String: [History.Event]]

    init(_ history: History, repeatsUnknown: Bool = false) {
        self.history = history
        self.repeatsUnknown = repeatsUnknown
        let first = Dictionary(history.events.map { ($0.id, $0) }) { first, _ in first }
        decisions = Dictionary(grouping: first.values.filter(\.isDecision), by: \.request).mapValues { events in
            let outcomes = events.filter { $0.reason != "send_pending" }
            return (outcomes.isEmpty ? events : outcomes).filter { event in
                event.status != "unknown" || !events.contains { $0.settles(event) }
            }
        }
        counts.requests = history.requests.count
        // A repeated send had an unknown outcome at first, whatever its final outcome.
        counts.unknown =
            decisions.values.joined().count { $0.status == "unknown" }
            + history.sends.count { $0.isRepeated && $0.state != "unknown" }
        checkDecisions()
        checkMessages()
        checkEvents()
        checkTables()
        checkFences()
        for leak in history.leaks { report(.secret, leak) }
    }

    mutating func report(_ invariant: Invariant, _ text: String) {
        violations.append(Violation(invariant: invariant, text: text))
    }
}

extension Checker {
    private mutating func checkDecisions() {
        let letters = Set(history.deadLetters)
        for request in history.requests {
            let count = decisions[request.id]?.count ?? 0
            if count == 0 {
                counts.lost += 1
                report(.decided, "request \(request.id) has no decision")
                if let place = request.places.first(where: isCommitted) {
                    report(.committedLast, "\(place) is committed, and request \(request.id) has no decision")
                }
            } else if count > 1 {
                report(.decided, "request \(request.id) has \(count) decisions")
            }
            for place in request.places where letters.contains(place) {
                report(.decided, "request \(request.id) at \(place) became a dead letter")
            }
        }
        let known = Set(history.requests.map(\.id))
        for id in decisions.keys where !known.contains(id) { report(.decided, "request \(id) was never made") }
        for place in history.unreadable where !letters.contains(place) {
            counts.lost += 1
            report(.decided, "the unreadable record at \(place) is no dead letter")
            if isCommitted(place) { report(.committedLast, "\(place) is committed, and no dead letter") }
        }
    }

    private func isCommitted(_ place: History.Place) -> Bool {
        place.offset < history.committed[place.topic]?[place.partition] ?? 0
    }
}

extension History.Place: CustomStringConvertible {
    var description: String { "\(topic)/\(partition)@\(offset)" }
}
