// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The scripted faults; the first that fits a message happens to it.
final class FaultScript: Sendable {
    private struct State {
        var nextIdentifier = 1
        var rules: [FaultRule] = []

        mutating func take(at index: Int) -> Fault {
            let fault = rules[index].fault
            if rules[index].times > 0 { rules[index].times -= 1 }
            if rules[index].times == 0 { rules.remove(at: index) }
            return fault
        }
    }

    /// How many rules may wait at once; of more, the oldest go.
    static let capacity = 10_000

    private let state = Mutex(State())

    var rules: [FaultRule] { state.withLock { $0.rules } }

    @discardableResult
    func add(_ fault: Fault, to recipient: String?, times: Int) -> FaultRule {
        state.withLock { state in
            let rule = FaultRule(identifier: state.nextIdentifier, recipient: recipient, times: times, fault: fault)
            state.nextIdentifier += 1
            state.rules.append(rule)
            if state.rules.count > Self.capacity { state.rules.removeFirst() }
            return rule
        }
    }

    func clear() {
        state.withLock { $0.rules = [] }
    }

    /// Takes the fault of a message.
    func take(to recipient: String) -> Fault? {
        state.withLock { state -> Fault? in
            guard let index = state.rules.firstIndex(where: { $0.recipient == nil || $0.recipient == recipient }) else {
                return nil
            }
            return state.take(at: index)
        }
    }

    /// Whether the first rule cuts any message's connection before its body is read; takes it if so.
    func takeCutBeforeBody() -> Bool {
        state.withLock { state in
            guard let first = state.rules.first, first.recipient == nil, first.fault == .cut(.before) else {
                return false
            }
            _ = state.take(at: 0)
            return true
        }
    }
}
