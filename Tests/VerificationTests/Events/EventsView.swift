// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The content of a published event, parsed from its bytes.
struct EventsView {
    let object: JSONObject

    init?(_ record: OutboxRecord) {
        guard !record.isDeadLetter, let value = record.value, case .object(let object)? = try? JSONScanner.parse(value)
        else { return nil }
        self.object = object
    }

    var status: String? { text("status") }
    var reason: String? { text("reason") }
    var rule: String? { text("rule") }
    var requestID: String? { text("requestId") }
    var verificationID: String? { text("verificationId") }
    var sequence: Int64? { integer("sequence") }
    var sendsLeft: Int64? { integer("sendsLeft") }

    func text(_ name: String) -> String? { object.text(name) }

    func integer(_ name: String) -> Int64? {
        guard case .number(let number)? = object[name] else { return nil }
        return number.int64
    }

    func object(_ name: String) -> JSONObject? {
        guard case .object(let inner)? = object[name] else { return nil }
        return inner
    }
}

extension IntakeChanges {
    var events: [EventsView] { outbox.compactMap(EventsView.init) }
}

extension OutcomeDecision.Changes {
    var events: [EventsView] { outbox.compactMap(EventsView.init) }
}
