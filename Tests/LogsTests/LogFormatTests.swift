// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import TestSupport
import Testing
import Verification

@testable import Logs

@Suite struct `The formats of a line` {
    private static let trace = TraceContext(
        traceparent: Array("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".utf8)
    )

    private static func line() throws -> LogLine {
        let time = try #require(Timestamp(rfc3339: "2026-11-20T12:34:56.789012Z"))
        let fields: [LogField: LogValue] = [.provider: "main", .durationMilliseconds: .number(1.5), .sends: 3]
        let members = fields.adding(trace).map { LogMember($0.rawValue, $1) }
        return LogLine(time: time, event: .providerAnswered, fields: members)
    }

    private static let service = LogService(version: "1.2.3", instance: "host-1")

    private static func text(_ format: LogFormat, isColored: Bool = false) throws -> String {
        String(decoding: try line().bytes(format, isColored: isColored, service: service), as: UTF8.self)
    }

    @Test func `json is one flat object`() throws {
        #expect(
            try Self.text(.json) == """
                {"timestamp":"2026-11-20T12:34:56.789012Z","severity":"debug","event":"provider.answered",\
                "message":"provider took a message","duration_ms":1.5,"provider":"main","sends":3,\
                "span_id":"00f067aa0ba902b7","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}\n
                """
        )
    }

    @Test func `otel is one OTLP document`() throws {
        #expect(
            try Self.text(.otel) == """
                {"resourceLogs":[{"resource":{"attributes":[\
                {"key":"service.name","value":{"stringValue":"code-courier"}},\
                {"key":"service.version","value":{"stringValue":"1.2.3"}},\
                {"key":"service.instance.id","value":{"stringValue":"host-1"}}]},\
                "scopeLogs":[{"logRecords":[{"timeUnixNano":"1795178096789012000",\
                "observedTimeUnixNano":"1795178096789012000","severityNumber":5,"severityText":"DEBUG",\
                "eventName":"provider.answered","body":{"stringValue":"provider took a message"},\
                "attributes":[{"key":"event","value":{"stringValue":"provider.answered"}},\
                {"key":"duration_ms","value":{"doubleValue":1.5}},\
                {"key":"provider","value":{"stringValue":"main"}},{"key":"sends","value":{"intValue":"3"}}],\
                "spanId":"00f067aa0ba902b7","traceId":"4bf92f3577b34da6a3ce929d0e0e4736"}]}]}]}\n
                """
        )
    }

    @Test func `text is for people, with colours where they are wanted`() throws {
        #expect(
            try Self.text(.text) == """
                12:34:56.789 DEBUG  provider.answered  provider took a message  duration_ms=1.5  provider=main\
                  sends=3  span_id=00f067aa0ba902b7  trace_id=4bf92f3577b34da6a3ce929d0e0e4736\n
                """
        )
        let colored = try Self.text(.text, isColored: true)
        #expect(colored.contains("\u{1b}[1mprovider.answered\u{1b}[0m"))
    }

    @Test func `figures that belong together are an object`() {
        let regions = LogValue.object([
            LogMember("US", .object([LogMember("sent", 3)])),
            LogMember("DE", .object([LogMember("failed", 1), LogMember("sent", 0)])),
        ])
        let nothing = LogValue.object([LogMember("postgres", 0), LogMember("kafka", 0)])
        let line = LogLine(
            time: Timestamp(microseconds: -1),
            event: .workerStats,
            fields: [LogMember("regions", regions), LogMember("errors", nothing)]
        )
        let json = String(decoding: line.json, as: UTF8.self)
        #expect(json.hasPrefix(#"{"timestamp":"1969-12-31T23:59:59.999999Z""#))
        #expect(json.contains(#""errors":{"postgres":0,"kafka":0}"#))
        #expect(json.hasSuffix(#""regions":{"US":{"sent":3},"DE":{"failed":1,"sent":0}}}"#))
        let text = String(decoding: line.text(isColored: false), as: UTF8.self)
        #expect(text.hasSuffix("interval  regions={US={sent=3} DE={failed=1}}"))
    }

    @Test func `a long text is cut between characters, and a long line has fewer fields`() {
        let long = LogText.clean(String(repeating: "ü", count: 1000))
        #expect(long == String(repeating: "ü", count: 256) + "…")
        let hostile = LogValue.text(String(repeating: "\"", count: 512))
        let fields = LogField.allCases.map { LogMember($0.rawValue, hostile) }
        let line = LogLine(time: Timestamp(microseconds: 0), event: .workerStats, fields: fields)
        for format in LogFormat.allCases {
            let bytes = line.bytes(format, isColored: true, service: Self.service)
            let limit = format == .otel ? 4 * LogLine.maximumBytes : LogLine.maximumBytes
            #expect(bytes.count <= limit + 1024, "\(format)")
            #expect(String(decoding: bytes, as: UTF8.self).contains("truncated"))
        }
    }

    @Test func `behind a field that does not fit those that do are kept`() {
        func many(_ name: String) -> LogMember {
            LogMember(name, .object((0..<2000).map { LogMember("\(name)-\($0)", 1_000_000) }))
        }
        let fields = [many("providers"), many("regions"), LogMember("requests", 7), LogMember("worker.id", "host-1")]
        let line = LogLine(time: Timestamp(microseconds: 0), event: .workerStats, fields: fields)
        for format in LogFormat.allCases {
            let text = String(decoding: line.bytes(format, isColored: false, service: Self.service), as: UTF8.self)
            #expect(!text.contains("regions") && text.contains("requests") && text.contains("host-1"), "\(format)")
            #expect(text.contains("truncated"))
        }
    }
}
