// SPDX-License-Identifier: Apache-2.0

extension EventSummary {
    /// Reads the summary from an event of another worker; nil for a dead letter.
    package init?(reading record: OutboxRecord) {
        guard !record.isDeadLetter, let value = record.value,
            case .object(let event)? = try? JSONScanner.parse(value),
            case .string(let status)? = event["status"], let status = DeliveryStatus(rawValue: status)
        else { return nil }
        var region: Region?
        if case .object(let recipient)? = event["recipient"], case .string(let code)? = recipient["region"] {
            region = Region(code) ?? .unknown
        }
        var reason: String?
        if case .string(let text)? = event["reason"] { reason = text }
        self.init(status: status, region: region, reason: reason, appendedAt: nil)
    }
}
