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

    /// The event in one line, whole.
    var text: String {
        guard let event else { return "(not a delivery event)" }
        var parts = [event.text("occurredAt") ?? "", pad(event.text("status") ?? "?", to: 14)] + cause(event)
        parts.append("request=\(event.text("requestId") ?? "-")")
        if let id = event.text("verificationId") { parts.append("verification=\(id)") }
        parts += [recipient(event), provider(event).map { "by=\($0)" }].compactMap(\.self)
        return parts.joined(separator: "  ").printable
    }

    /// The event in one line for a terminal of `width` columns.
    ///
    /// A narrow terminal gets the time of day and the ends of ids, and the line is cut at its width.
    func text(width: Int?) -> String {
        let whole = text
        guard let event, let width, whole.count > width else { return whole }
        let time = String((event.text("occurredAt") ?? "").dropFirst(11).prefix(8))
        var parts = [time, pad(event.text("status") ?? "?", to: 12)] + cause(event)
        parts += [event.text("requestId"), event.text("verificationId")].compactMap { $0.map(shortened) }
        parts += [recipient(event), provider(event)].compactMap(\.self)
        while parts.count > 2, parts.joined(separator: "  ").count > width { parts.removeLast() }
        return parts.joined(separator: "  ").printable
    }

    private func shortened(_ id: String) -> String { id.count > 20 ? "…\(id.suffix(6))" : id }

    private func cause(_ event: JSONObject) -> [String] {
        [event.text("reason"), event.text("field").map { "field=\($0)" }].compactMap(\.self)
    }

    private func recipient(_ event: JSONObject) -> String? {
        guard case .object(let recipient)? = event["recipient"] else { return nil }
        return "\(recipient.text("masked") ?? "") \(recipient.text("region") ?? "")"
    }

    private func provider(_ event: JSONObject) -> String? {
        guard case .object(let send)? = event["send"] else { return nil }
        return send.text("provider")
    }

    private func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
