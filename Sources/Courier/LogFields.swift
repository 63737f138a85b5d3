// SPDX-License-Identifier: Apache-2.0

import Logs
import Verification

extension OutboxRecord {
    /// What a line tells of an event: read from its value, since that is what was published.
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

    /// Why a record is a dead letter, and where it came from.
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

    /// The last header with this name: ours stand behind those of the record.
    private func header(_ name: String) -> [UInt8]? {
        headers.last { $0.name == name }?.value
    }
}

extension JSONObject {
    fileprivate func logged(_ name: String) -> LogValue? { text(name).map(LogValue.text) }
}
