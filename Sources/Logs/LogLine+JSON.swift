// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging

extension LogLine {
    /// The line as one JSON object, flat except for objects of related figures.
    var json: [UInt8] {
        var writer = JSONWriter(reserving: 512)
        writer.object { line in
            line.member("timestamp", time.precise)
            line.member("severity", level.rawValue)
            line.member("event", event)
            line.member("message", message)
            var isTruncated = false
            for field in fields {
                if line.bytes.count + field.value.maximumBytes <= Self.maximumBytes {
                    line.member(field)
                } else {
                    isTruncated = true
                }
            }
            if isTruncated { line.member(named: LogField.truncated.rawValue, true) }
        }
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes a field with its JSON type.
    mutating func member(_ field: LogMember) {
        switch field.value {
        case .text(let text): member(named: field.name, text)
        case .integer(let number): member(named: field.name, number)
        case .number(let number): member(named: field.name, number)
        case .flag(let flag): member(named: field.name, flag)
        case .object(let members):
            object(named: field.name) { writer in
                for inner in members { writer.member(inner) }
            }
        }
    }
}

extension LogValue {
    /// An upper estimate of the value's bytes in a line.
    var maximumBytes: Int {
        switch self {
        case .text(let text): 64 + 6 * text.utf8.count
        case .integer, .number, .flag: 96
        case .object(let members): members.reduce(16) { $0 + $1.name.utf8.count + $1.value.estimatedBytes + 8 }
        }
    }

    private var estimatedBytes: Int {
        switch self {
        case .text(let text): 2 + 6 * text.utf8.count
        case .integer(let number): number.description.utf8.count
        case .number: 12
        case .flag: 5
        case .object: maximumBytes
        }
    }
}

extension LogLine {
    /// The line as an OTLP `LogsData` message with one record, which OpenTelemetry's collector accepts
    /// (`otlpjsonfile`).
    func openTelemetry(_ service: LogService) -> [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        writer.object { data in
            data.array("resourceLogs") { resources in
                resources.object { resource in
                    resource.object("resource") { resource in
                        resource.array("attributes") { attributes in
                            attributes.attribute(LogMember("service.name", "code-courier"))
                            attributes.attribute(LogMember("service.version", .text(service.version)))
                            attributes.attribute(LogMember("service.instance.id", .text(service.instance)))
                        }
                    }
                    resource.array("scopeLogs") { scopes in
                        scopes.object { scope in
                            scope.array("logRecords") { records in records.object { write(to: &$0) } }
                        }
                    }
                }
            }
        }
        return writer.bytes
    }

    private func write(to record: inout JSONWriter) {
        let nanoseconds = time.microseconds.multipliedReportingOverflow(by: 1000).partialValue
        record.member("timeUnixNano", String(nanoseconds))
        record.member("observedTimeUnixNano", String(nanoseconds))
        record.member("severityNumber", level.openTelemetryNumber)
        record.member("severityText", level.rawValue.uppercased())
        record.member("eventName", event)
        record.object("body") { $0.member("stringValue", message) }
        record.array("attributes") { attributes in
            attributes.attribute(LogMember("event", .text(event)))
            var isTruncated = false
            for field in fields where !Self.topLevel.contains(field.name) {
                // An attribute takes up to about five times the bytes of the same value in a flat line.
                if attributes.bytes.count + 5 * field.value.maximumBytes <= 4 * Self.maximumBytes {
                    attributes.attribute(field)
                } else {
                    isTruncated = true
                }
            }
            if isTruncated { attributes.attribute(LogMember(LogField.truncated.rawValue, .flag(true))) }
        }
        for field in fields {
            switch field.name {
            case LogField.traceID.rawValue: record.member("traceId", field.value.description)
            case LogField.spanID.rawValue: record.member("spanId", field.value.description)
            default: continue
            }
        }
    }

    private static let topLevel = [LogField.traceID.rawValue, LogField.spanID.rawValue]
}

extension JSONWriter {
    /// Writes an attribute as an element `{"key": …, "value": …}`.
    fileprivate mutating func attribute(_ member: LogMember) {
        object { attribute in
            attribute.member("key", member.name)
            attribute.object("value") { $0.anyValue(member.value) }
        }
    }

    /// Writes the only member of an OTLP `AnyValue`; OTLP writes 64-bit integers as strings.
    private mutating func anyValue(_ value: LogValue) {
        switch value {
        case .text(let text): member("stringValue", text)
        case .integer(let number): member("intValue", String(number))
        case .number(let number): member("doubleValue", number)
        case .flag(let flag): member("boolValue", flag)
        case .object(let members):
            object("kvlistValue") { list in
                list.array("values") { values in
                    for member in members { values.attribute(member) }
                }
            }
        }
    }
}

extension Logger.Level {
    /// The level as OpenTelemetry's SeverityNumber.
    fileprivate var openTelemetryNumber: Int {
        switch self {
        case .trace: 1
        case .debug: 5
        case .info: 9
        case .notice: 10
        case .warning: 13
        case .error: 17
        case .critical: 21
        }
    }
}
