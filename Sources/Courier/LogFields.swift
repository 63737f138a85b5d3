// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import Verification

extension OutboxRecord {
    /// The log fields of an event, read from its value, since the value is what was published.
    func decisionFields(at now: Timestamp) -> [LogField: LogValue] {
        guard let value, case .object(let event)? = try? JSONScanner.parse(value) else { return [:] }
        var fields: [LogField: LogValue] = [:]
        let names: [(LogField, String)] = [
            (.verificationID, "verificationId"), (.requestID, "requestId"), (.tenant, "tenant"),
            (.channel, "channel"), (.status, "status"), (.reason, "reason"), (.rule, "rule"),
        ]
        for (field, name) in names { fields[field] = event.logged(name) }
        if case .object(let recipient)? = event["recipient"] { fields[.region] = recipient.logged("region") }
        if case .object(let send)? = event["send"] {
            fields[.sendID] = send.logged("id")
            fields[.provider] = send.logged("provider")
            fields[.errorCode] = send.logged("errorCode")
        }
        if let appendedAt = summary?.appendedAt { fields[.durationMilliseconds] = .milliseconds(now - appendedAt) }
        return fields.adding(header("traceparent").flatMap { TraceContext(traceparent: $0) })
    }

    /// The reason of a dead letter and the place of its record, as log fields.
    var deadLetterFields: [LogField: LogValue] {
        let names: [(LogField, String)] = [
            (.reason, "dead-letter-reason"), (.topic, "dead-letter-topic"), (.partition, "dead-letter-partition"),
            (.offset, "dead-letter-offset"),
        ]
        var fields: [LogField: LogValue] = [:]
        for (field, name) in names {
            guard let bytes = header(name) else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            fields[field] = Int64(text).map(LogValue.integer) ?? .text(text)
        }
        return fields
    }

    /// The last header with this name: the worker's own headers follow those of the original record.
    private func header(_ name: String) -> [UInt8]? {
        headers.last { $0.name == name }?.value
    }
}

extension JSONObject {
    fileprivate func logged(_ name: String) -> LogValue? { text(name).map(LogValue.text) }
}
