// SPDX-License-Identifier: Apache-2.0

/// The scheduled changes of status, soonest first.
struct DeliverySchedule {
    /// One change of one message.
    struct Step {
        let due: ContinuousClock.Instant
        let message: Int
        let status: SandboxMessage.Status
        var errorCode: Int?
        /// True when the provider sends a receipt for it.
        let isReported: Bool
    }

    private let sentAfter: Duration
    private let deliveredAfter: Duration
    private let capacity: Int
    /// Sorted latest first, so that removing the soonest is cheap.
    private var steps: [Step] = []

    init(sentAfter: Duration, deliveredAfter: Duration, capacity: Int) {
        self.sentAfter = sentAfter
        self.deliveredAfter = max(sentAfter, deliveredAfter)
        self.capacity = capacity
    }

    /// Schedules a message's changes of status; beyond the capacity nothing is scheduled.
    mutating func plan(message: Int, fault: Fault.Receipt?, at now: ContinuousClock.Instant) {
        let isReported = fault != .lost
        add(Step(due: now + sentAfter, message: message, status: .sent, isReported: isReported))
        var last = Step(due: now + deliveredAfter, message: message, status: .delivered, isReported: isReported)
        switch fault {
        case .late(let delay):
            last = Step(due: now + max(sentAfter, delay), message: message, status: .delivered, isReported: true)
        case .undelivered(let code):
            last = Step(due: last.due, message: message, status: .undelivered, errorCode: code, isReported: true)
        case .doubled(let delay):
            add(Step(due: last.due + delay, message: message, status: .delivered, isReported: true))
        case .lost, nil:
            break
        }
        add(last)
    }

    /// Removes and returns the soonest step if it is due.
    mutating func next(at now: ContinuousClock.Instant) -> Step? {
        guard let soonest = steps.last, soonest.due <= now else { return nil }
        return steps.removeLast()
    }

    mutating func removeAll() {
        steps = []
    }

    private mutating func add(_ step: Step) {
        guard steps.count < capacity else { return }
        var low = 0
        var high = steps.count
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].due > step.due { low = middle + 1 } else { high = middle }
        }
        steps.insert(step, at: low)
    }
}
