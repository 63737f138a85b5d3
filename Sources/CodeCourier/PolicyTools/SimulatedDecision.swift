// SPDX-License-Identifier: Apache-2.0

import Verification

/// The decision of a policy on one record.
struct SimulatedDecision: Hashable {
    enum Kind: String, CaseIterable {
        case sent

        /// The send of a test number, without a message.
        case sentToTestNumber = "sent_to_test_number"

        /// Every rule passes, but no provider takes the message: there is no route, or a test number simulates the
        /// failure.
        case failed
        case suppressed
        case rejected
        case expiredUnsent = "expired_unsent"
        case deadLetter = "dead_letter"

        /// The request id is a repeat: the first answer applies.
        case repeated
    }

    let kind: Kind

    /// The rule that decided; empty for a message that was sent.
    let rule: String

    /// The reason in the event, if any.
    let reason: String

    init(_ kind: Kind, rule: String = "", reason: String = "") {
        self.kind = kind
        self.rule = rule
        self.reason = reason
    }

    /// The decision for the end of a send, with the names of its event.
    init(_ disposition: SendDisposition, isFictional: Bool) {
        if case .failed(let reason) = disposition {
            self.init(.failed, rule: "routes", reason: reason.rawValue)
        } else {
            self.init(isFictional ? .sentToTestNumber : .sent)
        }
    }

    /// The decision in words, such as `rejected by regions`.
    var text: String { rule.isEmpty ? kind.rawValue : "\(kind.rawValue) by \(rule)" }
}

extension Screening.Passed {
    /// The end of a send when the providers of its route accept every message.
    func disposition(on channel: Channel) -> SendDisposition {
        if let testNumber { return TestNumber.Fault.disposition(testNumber.fault) }
        let route = tenant.routes.route(for: channel, region: region ?? .unknown)
        return route.isEmpty ? .failed(.noRoute) : .sent
    }
}

extension TestNumber.Fault {
    /// The end of a test number's send after all its attempts.
    fileprivate static func disposition(_ fault: Self?) -> SendDisposition {
        switch fault {
        case .optedOut: .failed(.optedOut)
        case .invalid: .failed(.providerRefused)
        case .throttled, .providerDown: .failed(.providerUnavailable)
        case .slow, .lostReceipt, .duplicateReceipt, nil: .sent
        }
    }
}
