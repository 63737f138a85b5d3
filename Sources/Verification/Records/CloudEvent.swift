// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The data and trace context of a record, without its CloudEvents envelope if it has one.
package struct CloudEvent: Sendable {
    package let data: JSONValue
    package let trace: TraceContext?

    /// The maximum size of a value in bytes.
    package static let maximumSize = 65_536

    /// Reads a record in binary mode, in structured mode, or without an envelope.
    ///
    /// As in the Kafka binding, a `content-type` that begins with `application/cloudevents` means structured mode,
    /// otherwise a `ce_specversion` header means binary mode. An envelope must have version 1.0 and the expected type;
    /// its other attributes are ignored. Any other value is read as plain JSON, or as a structured event if it has the
    /// members of one. A string that holds JSON counts as that JSON.
    ///
    /// - Throws: the reason for which the record becomes a dead letter.
    package static func payload(
        of record: InboundRecord,
        expecting type: CloudEventType
    ) throws(DeadLetterReason) -> CloudEvent {
        guard let value = record.value else { throw .tombstone }
        guard value.count <= maximumSize else { throw .tooLarge }
        // The distributed tracing extension uses attributes of the event instead of headers.
        let trace =
            trace(of: record, "traceparent", "tracestate") ?? trace(of: record, "ce_traceparent", "ce_tracestate")
        switch contentMode(of: record) {
        case .structured:
            let event = try structured(value, expecting: type)
            return CloudEvent(data: event.data, trace: trace ?? event.trace)
        case .unknown: throw .invalidCloudEvent
        case .binary(let version):
            let isOfType = record.header("ce_type")?.elementsEqual(type.rawValue.utf8) == true
            let isExpected = version.elementsEqual("1.0".utf8) && isOfType
            guard isExpected else { throw .invalidCloudEvent }
        case .bare:
            let data = try parse(value)
            guard case .object(let event) = data, event.isCloudEvent else {
                return CloudEvent(data: data, trace: trace)
            }
            let inner = try structured(event, expecting: type)
            return CloudEvent(data: inner.data, trace: trace ?? inner.trace)
        }
        return CloudEvent(data: try parse(value), trace: trace)
    }

    private static func trace(of record: InboundRecord, _ parent: String, _ state: String) -> TraceContext? {
        record.header(parent).flatMap { TraceContext(traceparent: $0, tracestate: record.header(state)) }
    }

    private enum ContentMode {
        case structured
        case binary(version: [UInt8])
        case bare
        /// A CloudEvents format other than JSON, or a batch.
        case unknown
    }

    private static func contentMode(of record: InboundRecord) -> ContentMode {
        if let bytes = record.contentType {
            let type = String(decoding: bytes, as: UTF8.self).lowercased()
            if type.hasPrefix("application/cloudevents") {
                let name = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
                return name == "application/cloudevents+json" ? .structured : .unknown
            }
        }
        guard let version = record.header("ce_specversion") else { return .bare }
        return .binary(version: version)
    }

    private static func structured(
        _ value: [UInt8],
        expecting type: CloudEventType
    ) throws(DeadLetterReason) -> CloudEvent {
        guard case .object(let event) = try parse(value) else { throw .invalidCloudEvent }
        return try structured(event, expecting: type)
    }

    private static func structured(
        _ event: JSONObject,
        expecting type: CloudEventType
    ) throws(DeadLetterReason) -> CloudEvent {
        guard case .string("1.0") = event["specversion"] else { throw .invalidCloudEvent }
        guard case .string(type.rawValue) = event["type"] else { throw .invalidCloudEvent }
        let trace = trace(of: event)
        switch (event["data"], event["data_base64"]) {
        case (.string(let text)?, nil): return CloudEvent(data: try parse(Array(text.utf8)), trace: trace)
        case (let data?, nil): return CloudEvent(data: data, trace: trace)
        case (nil, .string(let text)?):
            guard let bytes = Base64.decode(text) else { throw .invalidCloudEvent }
            return CloudEvent(data: try parse(bytes), trace: trace)
        default: throw .invalidCloudEvent
        }
    }

    /// The trace context in the event's attributes, for a record without one in its headers.
    private static func trace(of event: JSONObject) -> TraceContext? {
        guard case .string(let traceparent) = event["traceparent"] else { return nil }
        guard case .string(let tracestate) = event["tracestate"] else {
            return TraceContext(traceparent: Array(traceparent.utf8))
        }
        return TraceContext(traceparent: Array(traceparent.utf8), tracestate: Array(tracestate.utf8))
    }

    private static func parse(_ bytes: [UInt8]) throws(DeadLetterReason) -> JSONValue {
        let document = try RecordFraming.document(in: bytes)
        do {
            let value = try JSONScanner.parse(document)
            // A producer that serializes twice writes a JSON string that holds the document.
            guard case .string(let text) = value, text.utf8.first == UInt8(ascii: "{") else { return value }
            return try JSONScanner.parse(Array(text.utf8))
        } catch {
            throw DeadLetterReason(error)
        }
    }
}

extension JSONObject {
    /// True if the object has the members of an event in structured mode.
    fileprivate var isCloudEvent: Bool {
        self["specversion"] != nil && self["type"] != nil && (self["data"] != nil || self["data_base64"] != nil)
    }
}

extension InboundRecord {
    /// The value of the last `content-type` header, in any spelling of its name.
    fileprivate var contentType: [UInt8]? {
        headers.last { header in
            (11...12).contains(header.name.utf8.count) && Self.isContentType(header.name)
        }?.value
    }

    private static func isContentType(_ name: String) -> Bool {
        let letters = name.utf8.lazy.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        return letters.map { $0 | 0x20 }.elementsEqual("contenttype".utf8)
    }
}

package enum CloudEventType: String, Sendable, Hashable, CaseIterable {
    case requested = "com.codecourier.verification.requested.v1"
    case receipt = "com.codecourier.verification.receipt.v1"
    case delivery = "com.codecourier.verification.delivery.v1"
}

/// Removes the bytes that serializers add around a JSON document.
enum RecordFraming {
    /// The document in a value: the whole value, or the part after a byte order mark or a schema registry's prefix.
    ///
    /// - Throws: `unknownFraming` if the value is compressed, in another format, or in another encoding.
    static func document(in value: [UInt8]) throws(DeadLetterReason) -> [UInt8] {
        guard let first = value.first, !isText(first) else { return value }
        if value.starts(with: byteOrderMark) { return Array(value.dropFirst(byteOrderMark.count)) }
        for length in prefixes[first] ?? [] where isDocument(value.dropFirst(length)) {
            return Array(value.dropFirst(length))
        }
        if first < 0x20 || signatures.contains(where: value.starts) { throw .unknownFraming }
        return value
    }

    /// The lengths of schema registries' prefixes, by their first byte.
    ///
    /// A schema id of four bytes (Confluent) or eight (Apicurio), a schema UUID (Confluent), or a version, a
    /// compression and a UUID (AWS Glue).
    private static let prefixes: [UInt8: [Int]] = [0: [5, 9], 1: [17], 3: [18]]

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// The first bytes of UTF-16 in either order, Java serialization, a single Avro object, and Zstandard.
    private static let signatures: [[UInt8]] = [
        [0xfe, 0xff], [0xff, 0xfe], [0xac, 0xed, 0x00, 0x05], [0xc3, 0x01], [0x28, 0xb5, 0x2f, 0xfd],
    ]

    private static func isText(_ byte: UInt8) -> Bool {
        (0x20...0x7e).contains(byte) && byte != 0x28 || byte == 0x09 || byte == 0x0a || byte == 0x0d
    }

    private static func isDocument(_ bytes: ArraySlice<UInt8>) -> Bool {
        let start = bytes.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
        return start.map("{[\"".utf8.contains) ?? false
    }
}
