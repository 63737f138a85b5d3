// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Foundation
import Verification

/// A budget in a replay: its window, and the results.
struct ReplayedBudget {
    /// One step of the window.
    struct Step {
        let start: Timestamp
        var spent = Money.zero
        var refused = 0
    }

    /// The spans of time in which a state was on, and their total length.
    struct Spells {
        private(set) var count = 0
        private(set) var minutes = 0
        private(set) var first: Timestamp?
        private var isOpen = false

        /// Records whether the state was on in a minute with messages.
        mutating func take(_ minute: Timestamp, isOn: Bool) {
            if isOn {
                if !isOpen { count += 1 }
                minutes += 1
                first = first ?? minute
            }
            isOpen = isOn
        }
    }

    let budget: Budget
    private(set) var window: ReplayedWindow

    /// The steps since the beginning of the results.
    private(set) var steps: [Step] = []

    /// The cost of all messages, as if this budget did not exist.
    private(set) var asked = Money.zero
    private(set) var spent = Money.zero
    private(set) var messages = 0
    private(set) var peak: (used: Money, at: Timestamp)?

    private(set) var refused = 0

    /// The refused messages that were the first of a verification, and those whose code was typed in.
    private(set) var refusedPeople = 0
    private(set) var refusedApproved = 0

    private(set) var warned: [Int: Spells] = [:]
    private(set) var reserved = Spells()
    private(set) var exhausted = Spells()

    private var minute = Timestamp(microseconds: 0)
    private var isCounted = false
    private var wasRefused: (reserved: Bool, exhausted: Bool)?

    init(_ budget: Budget) {
        self.budget = budget
        window = ReplayedWindow(budget.period, zone: budget.timeZone)
    }

    func room(isConfirmed: Bool) -> Money {
        let kept = isConfirmed ? Money.zero : budget.amount.percent(budget.reserve)
        return max(budget.amount - kept - window.used, .zero)
    }

    func affordable(_ cost: Money, isConfirmed: Bool) -> Int {
        Int(room(isConfirmed: isConfirmed).micros / max(cost.micros, 1))
    }

    mutating func advance(to minute: Timestamp, isCounted: Bool) {
        window.advance(to: minute)
        (self.minute, self.isCounted, wasRefused) = (minute, isCounted, nil)
        if isCounted, steps.last?.start != window.step { steps.append(Step(start: window.step)) }
    }

    /// Charges the messages that were paid for; `count` is the number requested.
    mutating func charge(_ paid: Int, of count: Int, refused short: Int, each cost: Money, for past: PastMessages) {
        let isExhausted = affordable(cost, isConfirmed: true) <= paid
        let money = Money(micros: cost.micros * Int64(paid))
        window.spend(money)
        guard isCounted else { return }
        messages += count
        asked += Money(micros: cost.micros * Int64(count))
        spent += money
        steps[steps.count - 1].spent += money
        steps[steps.count - 1].refused += short
        refused += short
        if past.isFirst { refusedPeople += short }
        if past.isFirst, past.isApproved { refusedApproved += short }
        wasRefused = wasRefused ?? (false, false)
        if short > 0, isExhausted || past.isConfirmed { wasRefused?.exhausted = true }
        if short > 0, !isExhausted, !past.isConfirmed { wasRefused?.reserved = true }
    }

    mutating func endMinute() {
        guard isCounted, let wasRefused else { return }
        if window.used > peak?.used ?? .zero { peak = (window.used, minute) }
        reserved.take(minute, isOn: wasRefused.reserved)
        exhausted.take(minute, isOn: wasRefused.exhausted)
        for percent in budget.warnAt {
            warned[percent, default: Spells()].take(minute, isOn: window.used >= budget.amount.percent(percent))
        }
    }
}

/// The window of a budget at a moment of a replay.
struct ReplayedWindow {
    private let period: Budget.Period
    private let calendar: Calendar

    /// The current step: 5 minutes of an hour, else an hour.
    private(set) var step = Timestamp(microseconds: 0)
    private(set) var used = Money.zero

    private var steps: [(start: Timestamp, spent: Money)] = []
    private var monthEnd = Timestamp(microseconds: .min)

    init(_ period: Budget.Period, zone: String) {
        self.period = period
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: zone) ?? .gmt
        self.calendar = calendar
    }

    private var stepLength: Duration { period == .hour ? .seconds(300) : .seconds(3600) }

    /// The beginning of the window whose last step a time is in.
    func start(at time: Timestamp) -> Timestamp {
        switch period {
        case .hour: floor(time) - .seconds(3300)
        case .day: floor(time) - .seconds(23 * 3600)
        case .month: month(of: time).start
        }
    }

    mutating func advance(to time: Timestamp) {
        step = floor(time)
        if period == .month {
            guard time >= monthEnd else { return }
            monthEnd = month(of: time).end
            used = .zero
            return
        }
        let first = start(at: time)
        let over = steps.prefix { $0.start < first }
        used -= over.reduce(.zero) { $0 + $1.spent }
        steps.removeFirst(over.count)
    }

    mutating func spend(_ money: Money) {
        used += money
        if period == .month { return }
        if steps.last?.start != step { steps.append((step, .zero)) }
        steps[steps.count - 1].spent += money
    }

    private func floor(_ time: Timestamp) -> Timestamp {
        let length = stepLength.microseconds
        return Timestamp(microseconds: time.microseconds / length * length)
    }

    private func month(of time: Timestamp) -> (start: Timestamp, end: Timestamp) {
        let date = Date(timeIntervalSince1970: Double(time.microseconds) / 1e6)
        guard let month = calendar.dateInterval(of: .month, for: date) else { return (time, time) }
        return (Timestamp(month.start), Timestamp(month.end))
    }
}

extension Timestamp {
    fileprivate init(_ date: Date) {
        self.init(microseconds: Int64(date.timeIntervalSince1970) * 1_000_000)
    }
}
