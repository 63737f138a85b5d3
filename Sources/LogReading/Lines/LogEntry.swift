// SPDX-License-Identifier: Apache-2.0

package import Formats

/// One line of a worker's log, independent of its format.
package struct LogEntry: Sendable {
    package let time: Timestamp
    package let severity: LogSeverity

    /// The stable dotted name, such as `worker.stats`; `log` where a line has none.
    package let event: String

    /// The worker that wrote the line; nil where the line does not name it.
    package let worker: String?
    package let fields: JSONObject

    /// True for the last line of a worker that was stopped by a signal.
    var isWorkerEnd: Bool { ["worker.stopped", "worker.drain_timeout", "worker.ended"].contains(event) }

    init?(time: Timestamp, severity: LogSeverity, event: String?, worker: String? = nil, fields: JSONObject) {
        guard Self.believable.contains(time) else { return nil }
        self.time = time
        self.severity = severity
        self.event = (event ?? "log").cut
        self.worker = (fields.text("worker.id") ?? worker)?.cut
        self.fields = fields
    }

    /// The years 2020 to 2099: one line with an absurd time would stretch every chart to nothing.
    private static let believable =
        Timestamp(microseconds: 1_577_836_800_000_000)...Timestamp(microseconds: 4_102_444_800_000_000)
}

/// The severity of a line, in the order of swift-log's levels.
package enum LogSeverity: Int, Sendable, Comparable, CaseIterable {
    case trace
    case debug
    case info
    case notice
    case warning
    case error
    case critical

    package static func < (left: LogSeverity, right: LogSeverity) -> Bool { left.rawValue < right.rawValue }

    /// The severity of a word; `info` for an unknown one.
    init(word: String) {
        self =
            switch word.lowercased() {
            case "trace": .trace
            case "debug": .debug
            case "notice": .notice
            case "warn", "warning": .warning
            case "error": .error
            case "critical", "fatal": .critical
            default: .info
            }
    }

    /// The severity of an OpenTelemetry number, 1 to 24 in steps of four a level; of 9 to 12, all but 9 are `notice`.
    init(number: Double) {
        self =
            switch number {
            case ..<5: .trace
            case ..<9: .debug
            case ..<10: .info
            case ..<13: .notice
            case ..<17: .warning
            case ..<21: .error
            default: .critical
            }
    }
}

extension String {
    /// The text truncated for storage: names come from outside, and their number times their length is memory.
    var cut: String { cut(64) }

    /// The text truncated to a number of bytes; every text of a worker's line fits into 512.
    func cut(_ most: Int) -> String {
        utf8.count <= most ? self : String(decoding: utf8.prefix(most - 3), as: UTF8.self) + "..."
    }
}

/// The reason why a log cannot be read.
package enum LogFault: Error, CustomStringConvertible, Equatable {
    /// The file cannot be opened or read; `reason` is the system's message.
    case unreadable(path: String, reason: String)

    /// The log contains no entry in a format for machines.
    case foreign(path: String)

    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .foreign(let path):
            "\(path): no line is a log entry in format json or otel; the format text is for people: set log.format to json"
        }
    }
}

extension LogEntry {
    /// Parses a line in format `json` or `otel`; nil for anything else.
    ///
    /// A collector's prefix before the object (`worker-1
    ///
    /// {…`, `2026-11-20T12:00:00Z stdout F {…`) is skipped.
    package init?(_ line: [UInt8]) {
        guard let start = line.firstIndex(of: UInt8(ascii: "{")) else { return nil }
        let document = start == 0 ? line : Array(line[start...])
        guard case .object(let object)? = try? JSONScanner.parse(document, limits: Self.limits) else { return nil }
        if let resource = object.onlyElement("resourceLogs") {
            self.init(resource)
        } else if object["timeUnixNano"] != nil {
            self.init(object, instance: nil)
        } else {
            self.init(flat: object)
        }
    }

    /// In OTLP's wrapping, a figure of a heartbeat is eighteen levels deep.
    private static let limits = JSONLimits(maximumDepth: 24)

    private init?(flat object: JSONObject) {
        guard let text = object.text("timestamp"), let time = Timestamp(rfc3339: text) else { return nil }
        self.init(
            time: time,
            severity: object.text("severity").map { LogSeverity(word: $0) } ?? .info,
            event: object.text("event"),
            fields: object
        )
    }

    /// Parses the one record of OTLP's `LogsData`, as a worker writes it.
    private init?(_ resourceLogs: JSONObject) {
        guard let record = resourceLogs.onlyElement("scopeLogs")?.onlyElement("logRecords") else { return nil }
        let resource = resourceLogs.object("resource")?["attributes"].map(Self.attributes)
        self.init(record, instance: resource?.text("service.instance.id"))
    }

    /// Parses an OpenTelemetry log record.
    private init?(_ record: JSONObject, instance: String?) {
        guard let nanoseconds = record.integer("timeUnixNano") else { return nil }
        let fields = record["attributes"].map(Self.attributes) ?? JSONObject(members: [])
        let severity =
            record.amount("severityNumber").map { LogSeverity(number: $0) }
            ?? record.text("severityText").map { LogSeverity(word: $0) }
        self.init(
            time: Timestamp(microseconds: nanoseconds / 1000),
            severity: severity ?? .info,
            event: record.text("eventName") ?? fields.text("event.name") ?? fields.text("event"),
            worker: instance,
            fields: fields
        )
    }

    /// Attributes as an object of plain values, from an object or from OTLP's list of keys and values.
    private static func attributes(_ value: JSONValue) -> JSONObject {
        guard case .array(let list) = value else {
            guard case .object(let object) = value else { return JSONObject(members: []) }
            return object
        }
        let members = list.compactMap { element -> JSONMember? in
            guard case .object(let pair) = element, let key = pair.text("key"), let value = pair.object("value") else {
                return nil
            }
            return plain(value).map { JSONMember(name: key, value: $0) }
        }
        return JSONObject(members: members)
    }

    /// The value inside OTLP's wrapping, such as `{"intValue": "3"}`.
    private static func plain(_ wrapped: JSONObject) -> JSONValue? {
        guard let member = wrapped.members.first else { return nil }
        guard member.name == "kvlistValue" else { return member.value }
        guard case .object(let list) = member.value, let values = list["values"] else { return nil }
        return .object(attributes(values))
    }
}

extension JSONObject {
    /// The only element of an array, if it is an object.
    fileprivate func onlyElement(_ name: String) -> JSONObject? {
        guard case .array(let elements)? = self[name], elements.count == 1, case .object(let only) = elements[0] else {
            return nil
        }
        return only
    }

    /// A 64-bit integer, as a number or as OTLP's text.
    fileprivate func integer(_ name: String) -> Int64? {
        switch self[name] {
        case .number(let number): number.int64
        case .string(let text): Int64(text)
        default: nil
        }
    }
}
