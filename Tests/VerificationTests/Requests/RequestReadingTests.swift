// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@testable import Verification

/// Sample records: a valid request with changed fields.
enum RequestSample {
    /// 2026-11-20T12:35:00Z.
    static let now = Timestamp(microseconds: 1_795_178_100_000_000)

    static let sms = [
        ("requestId", #""r-1""#), ("purpose", #""sign_in""#), ("recipient", #"{"phoneNumber":"+16505553434"}"#),
    ]

    /// The document with fields replaced or added; nil removes a field.
    static func document(_ changes: [(String, String?)] = []) -> String {
        var fields = sms
        for (name, json) in changes {
            fields.removeAll { $0.0 == name }
            if let json { fields.append((name, json)) }
        }
        return "{" + fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    static func record(
        _ value: String?,
        timestamp: Timestamp? = now,
        headers: [(String, String?)] = []
    ) -> InboundRecord {
        InboundRecord(
            topic: "requests",
            partition: 1,
            offset: 42,
            timestamp: timestamp,
            key: Array("k".utf8),
            value: value.map { Array($0.utf8) },
            headers: headers.map { RecordField(name: $0.0, value: $0.1.map { Array($0.utf8) }) }
        )
    }

    static func record(bytes: [UInt8]) -> InboundRecord {
        InboundRecord(topic: "requests", partition: 1, offset: 42, timestamp: now, key: nil, value: bytes, headers: [])
    }

    static func read(_ changes: [(String, String?)]) -> RequestReading {
        VerificationRequest.read(record(document(changes)))
    }
}

extension RequestReading {
    var request: VerificationRequest? { if case .request(let request) = self { request } else { nil } }
    var invalid: InvalidRequest? { if case .invalid(let invalid) = self { invalid } else { nil } }
    var deadLetter: DeadLetterReason? { if case .deadLetter(let reason) = self { reason } else { nil } }
}

@Suite struct RequestReadingTests {
    private func reason(_ value: String?) -> DeadLetterReason? {
        VerificationRequest.read(RequestSample.record(value)).deadLetter
    }

    @Test func `the smallest request is read with the defaults`() throws {
        let request = try #require(RequestSample.read([]).request)
        #expect(request.requestID == "r-1" && request.tenant == "default")
        #expect(request.channel == .sms && request.purpose == .signIn)
        #expect(request.recipient.canonical == "+16505553434" && !request.recipientConfirmed)
        #expect(request.languageCode == nil && request.appName == nil && request.subject == nil)
        #expect(request.client == nil && request.appVerification == nil && request.autofill == nil)
        #expect(request.actionCode == nil && request.deadline == nil && request.trace == nil)
        #expect(request.requestedAt == nil && request.arrivedAt == RequestSample.now)
    }

    @Test func `every field of a full request is read`() throws {
        let actionCode = """
            {"url":"https://Login.Example.com/a?b=c","linkDomain":"links.example.com","iosBundleId":"com.example.App",\
            "androidPackageName":"com.example.app","androidMinimumVersion":"12","androidInstallApp":true,\
            "handleCodeInApp":false}
            """
        let request = try #require(
            RequestSample.read([
                ("tenant", #""acme.eu-1_a""#), ("channel", #""email""#), ("purpose", #""mfa_sign_in""#),
                ("recipient", #"{"email":"Ann.B@Example.COM","confirmed":true}"#), ("languageCode", #""pt-br""#),
                ("appName", #""Acme & Söhne""#), ("subject", #""user-1""#),
                (
                    "client",
                    #"{"ip":"2001:DB8::1","deviceId":"d","appId":"a","platform":"ios","userAgent":"","extra":1}"#
                ),
                ("appVerification", #"{"method":"app_attest","verdict":"pass","score":0.75}"#),
                ("autofill", #"{"domain":"Example.com","androidAppHash":"FA+9qCX9VS/"}"#), ("actionCode", actionCode),
                ("requestedAt", #""2026-11-20T12:34:56.789Z""#), ("deadline", #""2026-11-20T13:00:00+01:00""#),
                ("unknown", #"{"x":[1]}"#),
            ]).request
        )
        #expect(request.tenant == "acme.eu-1_a" && request.channel == .email && request.purpose == .mfaSignIn)
        #expect(request.recipient.canonical == "Ann.B@example.com" && request.recipientConfirmed)
        #expect(request.languageCode?.text == "pt-BR" && request.appName?.text == "Acme & Söhne")
        #expect(request.subject == "user-1" && request.client?.ip?.network == "2001:db8::/64")
        #expect(request.client?.platform == .ios)
        #expect(request.appVerification?.method == .appAttest && request.appVerification?.verdict == .pass)
        #expect(request.appVerification?.score == 0.75)
        #expect(request.autofill?.domain?.text == "example.com" && request.autofill?.androidAppHash == "FA+9qCX9VS/")
        let action = try #require(request.actionCode)
        #expect(action.url?.text == "https://Login.Example.com/a?b=c" && action.url?.host == "login.example.com")
        #expect(action.linkDomain?.text == "links.example.com" && action.iosBundleID == "com.example.App")
        #expect(action.androidPackageName == "com.example.app" && action.androidMinimumVersion == "12")
        #expect(action.androidInstallApp == true && action.handleCodeInApp == false)
        #expect(request.requestedAt?.rfc3339 == "2026-11-20T12:34:56.789Z")
        #expect(request.deadline?.rfc3339 == "2026-11-20T12:00:00.000Z")
    }

    @Test(
        arguments: [
            (nil, .tombstone), ("", .notJSON), ("{", .notJSON), ("nope", .notJSON), ("{} x", .notJSON),
            ("[]", .notAnObject), ("null", .notAnObject), ("\"r\"", .notAnObject), ("7", .notAnObject),
            (#"{"requestId":"a","requestId":"a"}"#, .duplicateKey),
            (#"{"requestId":"a","x":{"y":1,"y":2}}"#, .duplicateKey),
            (#"{"requestId":"a","x":9223372036854775808}"#, .numberOutOfRange),
            (#"{"requestId":"a","x":1e400}"#, .numberOutOfRange),
            ("{\"requestId\":\"a\",\"x\":" + String(repeating: "[", count: 16), .tooDeep),
            ("{}", .missingRequestID), (#"{"RequestId":"a"}"#, .missingRequestID),
            (#"{"requestId":""}"#, .invalidRequestID), (#"{"requestId":7}"#, .invalidRequestID),
            (#"{"requestId":null}"#, .missingRequestID), (#"{"requestId":["a"]}"#, .invalidRequestID),
            (#"{"requestId":"a\u0000"}"#, .invalidRequestID), (#"{"requestId":"a\n"}"#, .invalidRequestID),
            (#"{"requestId":"\u007f"}"#, .invalidRequestID), (#"{"requestId":"\u0085"}"#, .invalidRequestID),
            ("{\"requestId\":\"" + String(repeating: "é", count: 129) + "\"}", .invalidRequestID),
        ] as [(String?, DeadLetterReason)]
    )
    func `what cannot be answered is a dead letter with its reason`(value: String?, expected: DeadLetterReason) {
        #expect(reason(value) == expected)
    }

    @Test func `invalid UTF-8 anywhere is a dead letter`() {
        var bytes = Array(RequestSample.document([("x", #""?""#)]).utf8)
        bytes[bytes.count - 3] = 0xff
        let record = InboundRecord(
            topic: "t",
            partition: 0,
            offset: 0,
            timestamp: nil,
            key: nil,
            value: bytes,
            headers: []
        )
        #expect(VerificationRequest.read(record).deadLetter == .invalidUTF8)
    }

    @Test(arguments: [1, 128])
    func `a request id of up to 128 characters is usable`(length: Int) {
        let id = String(repeating: "é", count: length)
        #expect(RequestSample.read([("requestId", "\"\(id)\"")]).request?.requestID == id)
    }

    @Test func `64 KiB are read and one byte more is too large`() {
        let document = RequestSample.document()
        let padding = String(repeating: " ", count: 65_536 - document.utf8.count)
        #expect(reason(document + padding) == nil)
        #expect(reason(document + padding + " ") == .tooLarge)
        #expect(reason(String(repeating: "x", count: 65_537)) == .tooLarge)
    }

    @Test func `a refusal repeats what can be read of the request`() throws {
        let changes: [(String, String?)] = [("tenant", #""acme""#), ("recipient", #"{"phoneNumber":"0650"}"#)]
        let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let record = RequestSample.record(RequestSample.document(changes), headers: [("traceparent", traceparent)])
        let invalid = try #require(VerificationRequest.read(record).invalid)
        #expect(invalid.requestID == "r-1" && invalid.tenant == "acme")
        #expect(invalid.channel == .sms && invalid.purpose == .signIn)
        #expect(invalid.field == "recipient.phoneNumber" && invalid.reason == .invalidPhoneNumber)
        #expect(invalid.trace?.traceparent == traceparent)

        let second = try #require(
            RequestSample.read([("tenant", "7"), ("channel", #""fax""#), ("purpose", nil)]).invalid
        )
        #expect(second.tenant == "default" && second.channel == nil && second.purpose == nil)
        #expect(second.field == "tenant" && second.reason == .invalidRequest)
    }

    @Test func `the first fault in the order of the table is told`() {
        let order = [
            ("tenant", "1", "tenant"), ("channel", "1", "channel"), ("purpose", "1", "purpose"),
            ("recipient", "1", "recipient"), ("subject", "1", "subject"), ("appVerification", "1", "appVerification"),
            ("actionCode", "1", "actionCode"), ("requestedAt", "1", "requestedAt"), ("deadline", "1", "deadline"),
        ]
        for start in order.indices {
            let changes = order[start...].reversed().map { ($0.0, Optional($0.1)) }
            #expect(RequestSample.read(changes).invalid?.field == order[start].2)
        }
    }

    @Test func `a request that names no time has the record's but never one ahead of ours`() throws {
        let now = RequestSample.now
        func asked(_ timestamp: Timestamp?) -> Timestamp? {
            VerificationRequest.read(RequestSample.record(RequestSample.document(), timestamp: timestamp))
                .request?.asked(before: now)
        }
        #expect(asked(now - .seconds(90)) == now - .seconds(90))
        #expect(asked(nil) == now)
        #expect(asked(now + .seconds(3600)) == now)
        let stated = try #require(RequestSample.read([("requestedAt", #""2026-11-20T12:00:00Z""#)]).request)
        #expect(stated.asked(before: now).rfc3339 == "2026-11-20T12:00:00.000Z")
    }

    @Test func `a redriven request has its first time, and no header makes one younger`() {
        let now = RequestSample.now
        func asked(_ header: String, _ timestamp: Timestamp?) -> Timestamp? {
            let record = InboundRecord(
                topic: "verification.requests",
                partition: 0,
                offset: 0,
                timestamp: timestamp,
                key: nil,
                value: Array(RequestSample.document().utf8),
                headers: [RecordField("dead-letter-timestamp", header)]
            )
            return VerificationRequest.read(record).request?.asked(before: now)
        }
        let first = now - .seconds(600)
        let text = String(first.microseconds / 1000)
        #expect(asked(text, now) == Timestamp(milliseconds: first.microseconds / 1000))
        #expect(asked(text, nil) == Timestamp(milliseconds: first.microseconds / 1000))
        #expect(asked(text, first - .seconds(1)) == first - .seconds(1))
        for other in ["", "soon", "-1", "99999999999999999999"] { #expect(asked(other, now) == now) }
    }
}
