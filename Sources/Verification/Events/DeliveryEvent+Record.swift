// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The headers that all events of one batch share: their source, and the time of its decisions.
struct EventSource: Sendable {
    fileprivate let source: RecordField
    fileprivate let time: RecordField

    init(_ source: String, at time: Timestamp) {
        self.source = RecordField("ce_source", source)
        self.time = RecordField(name: "ce_time", value: time.rfc3339Bytes)
    }
}

extension DeliveryEvent {
    /// The event as a record in CloudEvents' binary mode, in its verification's stream.
    ///
    /// `appendedAt` is the append time of the request's record, if known.
    func record(source: EventSource, appendedAt: Timestamp? = nil) -> OutboxRecord {
        guard let verification else { preconditionFailure("an event without a verification needs its record") }
        return record(
            stream: verification.id.uuid,
            sequence: verification.sequence,
            key: verification.id.uuid.text,
            source: source,
            appendedAt: appendedAt
        )
    }

    /// The event of a decision without a verification, in a stream derived from the decided record.
    ///
    /// The stream's id is a digest of the request and the record's place, so deciding the record again creates the same
    /// event id.
    func record(of inbound: InboundRecord, source: EventSource) -> OutboxRecord {
        var fields = FieldJoiner()
        fields.append(description.tenant)
        fields.append(description.requestID)
        let stream = UUIDValue.digest(of: fields, and: inbound)
        return record(
            stream: stream,
            sequence: 1,
            key: Array(description.requestID.utf8),
            source: source,
            appendedAt: inbound.timestamp
        )
    }

    private func record(
        stream: UUIDValue,
        sequence: Int32,
        key: [UInt8],
        source: EventSource,
        appendedAt: Timestamp?
    ) -> OutboxRecord {
        var headers = [
            Self.specificationVersion,
            RecordField(name: "ce_id", value: stream.text(with: sequence)),
            source.source,
            Self.eventType,
            source.time,
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
                appendedAt: appendedAt,
                cost: cost
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
    /// The bytes of `description`.
    fileprivate var text: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        append(to: &text)
        return text
    }

    /// The bytes of `description`, a hyphen and a number.
    fileprivate func text(with number: Int32) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(48)
        append(to: &text)
        text.append(UInt8(ascii: "-"))
        text.append(contentsOf: String(number).utf8)
        return text
    }

    /// A UUIDv8 (RFC 9562) from a digest of fields and a record's place.
    static func digest(of fields: FieldJoiner, and record: InboundRecord) -> UUIDValue {
        var fields = fields
        fields.append(record.source)
        fields.append(String(record.offset))
        if let timestamp = record.timestamp { fields.append(String(timestamp.microseconds)) }
        let value = fields.sha256.value
        let version: UInt128 = 0xf << 76
        let variant: UInt128 = 0x3 << 62
        return UUIDValue(value & ~version & ~variant | 0x8 << 76 | 0x2 << 62)
    }
}

extension DeliveryEvent {
    /// The event's value in the format of `schemas/kafka/delivery.schema.json`.
    package var json: [UInt8] {
        var writer = JSONWriter(reserving: 768)
        writer.object { event in
            event.member("verificationId", ifPresent: verification?.id.uuid)
            event.member("requestId", description.requestID)
            event.member("tenant", description.tenant)
            event.member("channel", ifPresent: description.channel?.rawValue)
            event.member("purpose", ifPresent: description.purpose?.rawValue)
            event.member("subject", ifPresent: description.subject)
            event.member("sequence", verification?.sequence ?? 1)
            event.member("status", status.rawValue)
            event.member("reason", ifPresent: reason?.word)
            event.member("originalReason", ifPresent: originalReason)
            event.member("retryAfter", ifPresent: retryAfter)
            event.member("rule", ifPresent: rule)
            event.member("field", ifPresent: field)
            writeRecipient(&event)
            writeSend(&event)
            writeCost(&event)
            writeVerification(&event)
            event.member("fictional", verification?.isFictional ?? false)
            event.member("policyVersion", policyVersion)
            event.member("occurredAt", occurredAt)
        }
        return writer.bytes
    }

    private func writeRecipient(_ event: inout JSONWriter) {
        guard description.masked != nil || description.region != nil || description.fingerprint != nil else { return }
        event.object("recipient") { recipient in
            recipient.member("masked", ifPresent: description.masked)
            recipient.member("region", ifPresent: description.region?.code)
            recipient.member("fingerprint", ifPresent: description.fingerprint.map { HexadecimalBytes($0) })
        }
    }

    private func writeSend(_ event: inout JSONWriter) {
        guard let send else { return }
        event.object("send") { writer in
            writer.member("id", send.id.uuid)
            writer.member("number", Int(send.number))
            writer.member("max", Int(send.max))
            writer.member("provider", ifPresent: send.provider)
            writer.member("providerMessageId", ifPresent: send.providerMessageID)
            writer.member("segments", ifPresent: send.segments)
            writer.member("encoding", ifPresent: send.encoding)
            writer.member("errorCode", ifPresent: send.errorCode)
        }
    }

    private func writeCost(_ event: inout JSONWriter) {
        guard let cost else { return }
        event.object("cost") { writer in
            writer.member("amount", cost.amount.description)
            writer.member("currency", cost.currency)
        }
    }

    private func writeVerification(_ event: inout JSONWriter) {
        guard let verification else { return }
        event.object("code") { code in
            code.member("length", ifPresent: verification.codeLength.map { Int($0) })
            code.member("generation", verification.generation)
        }
        event.member("resendAfter", verification.resendAfter)
        event.member("expiresAt", verification.expiresAt)
        event.member("sendsLeft", Int(verification.sendsLeft))
    }
}
