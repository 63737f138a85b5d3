// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@testable import Verification

@Suite struct CloudEventTests {
    static let type = "com.codecourier.verification.requested.v1"
    static let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    static let otherTrace = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-00"
    static let structured = ("content-type", Optional("application/cloudevents+json; charset=UTF-8"))

    private func read(_ value: String?, _ headers: [(String, String?)]) -> RequestReading {
        VerificationRequest.read(RequestSample.record(value, headers: headers))
    }

    private func envelope(_ rest: String, type: String = type, version: String = "1.0") -> String {
        #"{"specversion":"\#(version)","type":"\#(type)","id":"1","source":"/gateway"\#(rest)}"#
    }

    @Test func `binary mode is read whatever else its headers say`() throws {
        let request = try #require(
            read(
                RequestSample.document(),
                [
                    ("ce_specversion", "1.0"), ("ce_type", Self.type), ("ce_time", "2020-01-01T00:00:00Z"),
                    ("content-type", "application/json"), ("traceparent", Self.trace), ("tracestate", "a=b"),
                ]
            ).request
        )
        #expect(request.requestID == "r-1" && request.arrivedAt == RequestSample.now)
        #expect(request.trace?.traceparent == Self.trace && request.trace?.state == "a=b")
    }

    @Test(
        arguments: [
            [("ce_specversion", "1.0")], [("ce_specversion", "1.0"), ("ce_type", "other")],
            [("ce_specversion", "1.0"), ("ce_type", nil)], [("ce_specversion", "0.3"), ("ce_type", type)],
            [("ce_specversion", ""), ("ce_type", type)],
            [("ce_specversion", "1.0"), ("ce_type", "com.codecourier.verification.receipt.v1")],
            [("ce_specversion", "1.0"), ("ce_type", type), ("ce_type", "other")],
            [("content-type", "application/cloudevents-batch+json")],
            [("content-type", "application/cloudevents+avro")],
            [("content-type", "application/cloudevents+jsonx")],
        ] as [[(String, String?)]]
    )
    func `an envelope of another kind is a dead letter`(headers: [(String, String?)]) {
        #expect(read(RequestSample.document(), headers).deadLetter == .invalidCloudEvent)
    }

    @Test func `of repeated headers the last holds and names are lower case`() {
        let document = RequestSample.document()
        #expect(
            read(
                document,
                [("ce_specversion", "9"), ("ce_specversion", "1.0"), ("ce_type", "x"), ("ce_type", Self.type)]
            ).request != nil
        )
        #expect(
            read(document, [("CE_SPECVERSION", "9"), ("Content-Type", "application/json")]).request != nil
        )
        #expect(
            read(document, [("traceparent", Self.otherTrace), ("traceparent", Self.trace)]).request?.trace?.traceparent
                == Self.trace
        )
    }

    @Test func `a trace may stand among the event's attributes, and one beside them goes before`() {
        let document = RequestSample.document()
        let attributes: [(String, String?)] = [("ce_traceparent", Self.trace), ("ce_tracestate", "a=b")]
        let trace = read(document, attributes).request?.trace
        #expect(trace?.traceparent == Self.trace && trace?.state == "a=b")
        let both = read(document, attributes + [("traceparent", Self.otherTrace)]).request?.trace
        #expect(both?.traceparent == Self.otherTrace && both?.state == nil)
    }

    @Test func `a bare value is read with its trace and a broken trace is none`() {
        #expect(read(RequestSample.document(), [("traceparent", Self.trace)]).request?.trace?.traceparent == Self.trace)
        for headers: [(String, String?)] in [
            [], [("traceparent", "00-zz")], [("traceparent", nil)], [("traceparent", "")],
        ] {
            let request = read(RequestSample.document(), headers).request
            #expect(request != nil && request?.trace == nil)
        }
    }

    @Test(arguments: [
        "application/cloudevents+json", "application/cloudevents+json;charset=utf-8", "Application/CloudEvents+JSON ",
    ])
    func `structured mode is told by the content type`(contentType: String) {
        let value = envelope(",\"data\":\(RequestSample.document())")
        #expect(read(value, [("content-type", contentType)]).request?.requestID == "r-1")
    }

    @Test(arguments: ["Content-Type", "CONTENT-TYPE", "contentType", "content_type", nil] as [String?])
    func `structured mode is known by any spelling of the header, and without it by the members`(name: String?) {
        let value = envelope(",\"data\":\(RequestSample.document())")
        let headers = name.map { [($0, Optional("application/cloudevents+json"))] } ?? []
        #expect(read(value, headers).request?.requestID == "r-1")
        #expect(read(value, headers + [("ce_id", "1")]).request?.requestID == "r-1")
    }

    @Test func `a text that holds JSON is that JSON`() throws {
        func quoted(_ text: String) -> String {
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        let document = RequestSample.document()
        #expect(read(quoted(document), []).request?.requestID == "r-1")
        #expect(read(envelope(",\"data\":\(quoted(document))"), [Self.structured]).request?.requestID == "r-1")
        #expect(read(quoted(quoted(document)), []).deadLetter == .notAnObject)
        #expect(read(quoted("hello"), []).deadLetter == .notAnObject)
    }

    @Test(
        arguments: [
            [0xef, 0xbb, 0xbf], [0, 0, 0, 1, 44], [0] + [UInt8](repeating: 7, count: 8),
            [1] + [UInt8](repeating: 9, count: 16),
            [3, 0] + [UInt8](repeating: 0xab, count: 16), [0, 0, 0, 0, 1, 0x0a, 0x20],
        ] as [[UInt8]]
    )
    func `a serializer's bytes before the JSON are taken off`(bytes: [UInt8]) {
        for value in [RequestSample.document(), envelope(",\"data\":\(RequestSample.document())")] {
            let record = RequestSample.record(bytes: bytes + Array(value.utf8))
            guard case .request(let request) = VerificationRequest.read(record) else {
                Issue.record("\(bytes)")
                continue
            }
            #expect(request.requestID == "r-1")
        }
    }

    @Test(
        arguments: [
            [0, 0, 0, 0, 1, 0x0c, 0x02], [0x1f, 0x8b, 8], [0xff, 0xfe, 0x7b, 0], [0xfe, 0xff, 0, 0x7b],
            [0, 0x7b, 0, 0x22],
            [0xac, 0xed, 0, 5, 0x74], [0xc3, 0x01, 1], [0x28, 0xb5, 0x2f, 0xfd], [3, 5, 1, 2], [8, 1, 0x12], [1, 2],
        ] as [[UInt8]]
    )
    func `another format has a reason of its own`(bytes: [UInt8]) {
        let reading = VerificationRequest.read(RequestSample.record(bytes: bytes))
        guard case .deadLetter(let reason) = reading else {
            Issue.record("\(bytes)")
            return
        }
        #expect(reason == .unknownFraming)
    }

    @Test func `structured data may be base64`() {
        // {"requestId":"r-1","purpose":"sign_in","recipient":{"phoneNumber":"+16505553434"}}
        let text =
            "eyJyZXF1ZXN0SWQiOiJyLTEiLCJwdXJwb3NlIjoic2lnbl9pbiIsInJlY2lwaWVudCI6eyJwaG9uZU51bWJlciI6IisxNjUwNTU1MzQzNCJ9fQ=="
        #expect(read(envelope(",\"data_base64\":\"\(text)\""), [Self.structured]).request?.requestID == "r-1")
        let faults: [(String, DeadLetterReason)] = [
            ("", .notJSON), ("e30", .invalidCloudEvent), ("e30=", .missingRequestID), ("e30=e30=", .invalidCloudEvent),
            ("e31=", .invalidCloudEvent), ("e 0=", .invalidCloudEvent), ("====", .invalidCloudEvent),
            ("_-_-", .invalidCloudEvent),
            ("W10=", .notAnObject), ("/w==", .invalidUTF8),
        ]
        for (text, reason) in faults {
            #expect(read(envelope(",\"data_base64\":\"\(text)\""), [Self.structured]).deadLetter == reason, "\(text)")
        }
    }

    @Test func `a structured envelope that breaks a rule is a dead letter`() {
        let data = ",\"data\":\(RequestSample.document())"
        let faults: [(String?, DeadLetterReason)] = [
            (nil, .tombstone), ("{", .notJSON), ("[]", .invalidCloudEvent), ("{}", .invalidCloudEvent),
            (envelope(""), .invalidCloudEvent),
            (envelope(data, type: "other"), .invalidCloudEvent), (envelope(data, version: "2.0"), .invalidCloudEvent),
            (envelope(data + ",\"data_base64\":\"e30=\""), .invalidCloudEvent),
            (envelope(",\"data_base64\":5"), .invalidCloudEvent),
            (envelope(",\"data\":\"{}\""), .missingRequestID), (envelope(",\"data\":null"), .notAnObject),
            (envelope(",\"data\":{}"), .missingRequestID),
        ]
        for (value, reason) in faults {
            #expect(read(value, [Self.structured]).deadLetter == reason, "\(value ?? "nothing")")
        }
    }

    @Test func `the transport's trace comes before the one in the envelope`() {
        let value = envelope(
            ",\"traceparent\":\"\(Self.otherTrace)\",\"tracestate\":\"c=d\",\"data\":\(RequestSample.document())"
        )
        #expect(read(value, [Self.structured]).request?.trace?.traceparent == Self.otherTrace)
        #expect(read(value, [Self.structured]).request?.trace?.state == "c=d")
        #expect(read(value, [Self.structured, ("traceparent", Self.trace)]).request?.trace?.traceparent == Self.trace)
        #expect(
            read(value, [Self.structured, ("traceparent", "broken")]).request?.trace?.traceparent == Self.otherTrace
        )
    }

    @Test func `a receipt is opened by its own type`() throws {
        let headers: [(String, String?)] = [
            ("ce_specversion", "1.0"), ("ce_type", "com.codecourier.verification.receipt.v1"),
        ]
        let record = RequestSample.record("{}", headers: headers)
        _ = try CloudEvent.payload(of: record, expecting: .receipt)
        #expect(throws: DeadLetterReason.invalidCloudEvent) {
            try CloudEvent.payload(of: record, expecting: .requested)
        }
    }
}
