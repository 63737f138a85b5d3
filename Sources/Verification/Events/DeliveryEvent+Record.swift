// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Formats

extension DeliveryEvent {
    /// The event as a record in CloudEvents' binary mode, in its verification's stream.
    ///
    /// `appendedAt` is the append time of the request's record, if known.
    func record(source: String, appendedAt: Timestamp? = nil) -> OutboxRecord {
        guard let verification else { preconditionFailure("an event without a verification needs its record") }
        let id = verification.id.description
        return record(
            stream: verification.id.uuid,
            named: id,
            sequence: verification.sequence,
            subject: id,
            source: source,
            appendedAt: appendedAt
        )
    }

    /// The event of a decision without a verification, in a stream derived from the decided record.
    ///
    /// The stream's id is a digest of the request and the record's place, so deciding the record again creates the same
    /// event id.
    func record(of inbound: InboundRecord, source: String) -> OutboxRecord {
        var fields = FieldJoiner()
        fields.append(description.tenant)
        fields.append(description.requestID)
        let stream = UUIDValue.digest(of: fields, and: inbound)
        return record(
            stream: stream,
            named: stream.description,
            sequence: 1,
            subject: description.requestID,
            source: source,
            appendedAt: inbound.timestamp
        )
    }

    private func record(
        stream: UUIDValue,
        named name: String,
        sequence: Int32,
        subject: String,
        source: String,
        appendedAt: Timestamp?
    ) -> OutboxRecord {
        let key = Array(subject.utf8)
        var headers = [
            Self.specificationVersion,
            RecordField("ce_id", "\(name)-\(sequence)"),
            RecordField("ce_source", source),
            Self.eventType,
            RecordField("ce_time", occurredAt.rfc3339),
            RecordField(name: "ce_subject", value: key),
            RecordField("ce_requestid", description.requestID),
            Self.contentType,
        ]
        if let trace = description.trace { headers.append(RecordField("traceparent", trace.traceparent)) }
        return OutboxRecord(
            stream: stream,
            sequence: sequence,
            isDeadLetter: false,
            key: key,
            value: json,
            headers: headers,
            summary: EventSummary(
                status: status,
                region: description.region,
                reason: reason?.word,
                appendedAt: appendedAt
            )
        )
    }

    // Headers that are equal in every event.
    private static let specificationVersion = RecordField("ce_specversion", "1.0")
    private static let eventType = RecordField("ce_type", type)
    private static let contentType = RecordField("content-type", "application/json")
}

extension OutboxRecord {
    /// A dead letter: the unreadable record's key, value and headers unchanged, with the reason in additional headers.
    package static func deadLetter(
        _ inbound: InboundRecord,
        reason: DeadLetterReason,
        at time: Timestamp
    ) -> OutboxRecord {
        let stream = UUIDValue.digest(of: FieldJoiner(), and: inbound)
        var headers = inbound.headers
        headers.append(RecordField("dead-letter-id", "\(stream)-1"))
        headers.append(RecordField("dead-letter-reason", reason.rawValue))
        headers.append(RecordField("dead-letter-topic", inbound.topic))
        headers.append(RecordField("dead-letter-partition", String(inbound.partition)))
        headers.append(RecordField("dead-letter-offset", String(inbound.offset)))
        if let timestamp = inbound.timestamp {
            headers.append(RecordField("dead-letter-timestamp", String(timestamp.microseconds / 1000)))
        }
        headers.append(RecordField("dead-letter-time", time.rfc3339))
        return OutboxRecord(
            stream: stream,
            sequence: 1,
            isDeadLetter: true,
            key: inbound.key,
            value: inbound.value,
            headers: headers
        )
    }
}

extension UUIDValue {
    /// A UUIDv8 (RFC 9562) from a digest of fields and a record's place.
    static func digest(of fields: FieldJoiner, and record: InboundRecord) -> UUIDValue {
        var fields = fields
        fields.append(record.source)
        fields.append(String(record.offset))
        if let timestamp = record.timestamp { fields.append(String(timestamp.microseconds)) }
        let value = SHA256.hash(data: fields.bytes).withUnsafeBytes { UUIDValue(digest: $0) }.value
        let version: UInt128 = 0xf << 76
        let variant: UInt128 = 0x3 << 62
        return UUIDValue(value & ~version & ~variant | 0x8 << 76 | 0x2 << 62)
    }
}
