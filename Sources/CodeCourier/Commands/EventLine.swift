// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// A delivery event as a line for people.
struct EventLine {
    private let event: JSONObject?

    init(_ value: [UInt8]) {
        if case .object(let object)? = try? JSONScanner.parse(value) { event = object } else { event = nil }
    }

    var verificationID: String? { event?.text("verificationId") }
    var requestID: String? { event?.text("requestId") }
    var status: String? { event?.text("status") }
    var reason: String? { event?.text("reason") }

    /// The keyed digest of the recipient, in hexadecimal.
    var fingerprint: String? {
        guard case .object(let recipient)? = event?["recipient"] else { return nil }
        return recipient.text("fingerprint")
    }

    var text: String {
        guard let event else { return "(not a delivery event)" }
        var parts = [event.text("occurredAt") ?? "", pad(event.text("status") ?? "?", to: 14)]
        if let reason = event.text("reason") { parts.append(reason) }
        if let field = event.text("field") { parts.append("field=\(field)") }
        parts.append("request=\(event.text("requestId") ?? "-")")
        if let id = event.text("verificationId") { parts.append("verification=\(id)") }
        if case .object(let recipient)? = event["recipient"] {
            parts.append("\(recipient.text("masked") ?? "") \(recipient.text("region") ?? "")")
        }
        if case .object(let send)? = event["send"], let provider = send.text("provider") {
            parts.append("by=\(provider)")
        }
        return parts.joined(separator: "  ")
    }

    private func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
