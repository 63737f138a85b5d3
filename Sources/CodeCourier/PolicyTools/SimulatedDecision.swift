// SPDX-License-Identifier: Apache-2.0

import Verification

/// What a policy does with one record.
struct SimulatedDecision: Hashable {
    enum Kind: String, CaseIterable {
        case sent

        /// A test number's send: no message.
        case sentToTestNumber = "sent_to_test_number"

        /// Every rule lets it through, and nobody takes it: there is no route, or a test number's fault wants it so.
        case failed
        case suppressed
        case rejected
        case expiredUnsent = "expired_unsent"
        case deadLetter = "dead_letter"

        /// The same request id again: the answer is that of the first.
        case repeated
    }

    let kind: Kind

    /// The rule that decided; empty for what was sent.
    let rule: String

    /// The event's reason, where it has one.
    let reason: String

    init(_ kind: Kind, rule: String = "", reason: String = "") {
        self.kind = kind
        self.rule = rule
        self.reason = reason
    }

    /// The end of a send, by the names of its event.
    init(_ disposition: SendDisposition, isFictional: Bool) {
        if case .failed(let reason) = disposition {
            self.init(.failed, rule: "routes", reason: reason.rawValue)
        } else {
            self.init(isFictional ? .sentToTestNumber : .sent)
        }
    }

    /// Such as `rejected by regions`.
    var text: String { rule.isEmpty ? kind.rawValue : "\(kind.rawValue) by \(rule)" }
}

extension Screening.Passed {
    /// What a worker's providers come to, when those of a route take every message.
    func disposition(on channel: Channel) -> SendDisposition {
        if let testNumber { return TestNumber.Fault.disposition(testNumber.fault) }
        let route = tenant.routes.route(for: channel, region: region ?? .unknown)
        return route.isEmpty ? .failed(.providerUnavailable) : .sent
    }
}

extension TestNumber.Fault {
    /// What a message to a test number comes to when all of its attempts are over.
    fileprivate static func disposition(_ fault: Self?) -> SendDisposition {
        switch fault {
        case .optedOut: .failed(.optedOut)
        case .invalid: .failed(.providerRefused)
        case .throttled, .providerDown: .failed(.providerUnavailable)
        case .slow, .lostReceipt, .duplicateReceipt, nil: .sent
        }
    }
}
