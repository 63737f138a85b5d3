// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The scripted faults; the first that matches a message applies to it.
final class FaultScript: Sendable {
    private struct Entry {
        var rule: FaultRule
        let end: ContinuousClock.Instant?
        var meter = RateMeter()
    }

    private struct State {
        var nextIdentifier = 1
        var entries: [Entry] = []

        mutating func forget(at now: ContinuousClock.Instant) {
            entries.removeAll { $0.end.map { $0 <= now } ?? false }
        }

        mutating func take(at index: Int) -> Fault {
            let fault = entries[index].rule.fault
            if entries[index].rule.times > 0 { entries[index].rule.times -= 1 }
            if entries[index].rule.times == 0 { entries.remove(at: index) }
            return fault
        }

        /// True when the fault applies now; a rate counts the message and applies only when it is exceeded.
        mutating func happens(at index: Int, _ now: ContinuousClock.Instant) -> Bool {
            guard case .rate(let limit) = entries[index].rule.fault else { return true }
            return entries[index].meter.exceeds(limit, at: now)
        }
    }

    /// The maximum number of rules; beyond it the oldest are removed.
    static let capacity = 10_000

    private let state = Mutex(State())
    private let hasTestRecipients: Bool

    init(hasTestRecipients: Bool = false) {
        self.hasTestRecipients = hasTestRecipients
    }

    var rules: [FaultRule] {
        state.withLock { state in
            state.forget(at: .now)
            return state.entries.map(\.rule)
        }
    }

    @discardableResult
    func add(
        _ fault: Fault,
        to recipient: String? = nil,
        from provider: SandboxProvider? = nil,
        times: Int,
        lasting: Duration? = nil
    ) -> FaultRule {
        state.withLock { state in
            let rule = FaultRule(
                identifier: state.nextIdentifier,
                recipient: recipient,
                provider: provider,
                times: times,
                lasting: lasting,
                fault: fault
            )
            state.nextIdentifier += 1
            state.entries.append(Entry(rule: rule, end: lasting.map { .now + $0 }))
            if state.entries.count > Self.capacity { state.entries.removeFirst() }
            return rule
        }
    }

    func clear() {
        state.withLock { $0.entries = [] }
    }

    /// Returns the fault of a message and counts it as used; a test recipient's own fault applies if none was scripted.
    func take(
        to recipient: String,
        from provider: SandboxProvider,
        at now: ContinuousClock.Instant = .now
    ) -> Fault? {
        state.withLock { state -> Fault? in
            state.forget(at: now)
            for index in state.entries.indices
            where state.entries[index].rule.fits(recipient, provider) && state.happens(at: index, now) {
                return state.take(at: index)
            }
            return hasTestRecipients ? TestRecipients.fault(of: recipient, by: provider) : nil
        }
    }

    /// Counts the first rule as used and returns true, if it cuts connections before the body of any message is read.
    func takeCutBeforeBody(from provider: SandboxProvider) -> Bool {
        state.withLock { state in
            state.forget(at: .now)
            guard
                let first = state.entries.first?.rule, first.recipient == nil, first.fault == .cut(.before),
                first.provider == nil || first.provider == provider
            else { return false }
            _ = state.take(at: 0)
            return true
        }
    }
}

/// Counts messages in a sliding window of one second.
private struct RateMeter {
    private var times: [ContinuousClock.Instant] = []

    /// Counts a message; true, without counting it, when the limit is reached.
    mutating func exceeds(_ limit: Int, at now: ContinuousClock.Instant) -> Bool {
        times.removeAll { now - $0 >= .seconds(1) }
        if times.count >= limit { return true }
        times.append(now)
        return false
    }
}
