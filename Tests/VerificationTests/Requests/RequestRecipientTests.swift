// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@testable import Verification

@Suite struct RequestRecipientTests {
    private func email(_ json: String) -> RequestReading {
        RequestSample.read([("channel", #""email""#), ("recipient", json)])
    }

    private func device(_ token: String, bundle: String? = "com.example.App", extra: String = "") -> RequestReading {
        let bundleID = bundle.map { ",\"bundleId\":\"\($0)\"" } ?? ""
        return RequestSample.read([
            ("channel", #""apns""#), ("recipient", "{\"deviceToken\":\"\(token)\"\(bundleID)\(extra)}"),
        ])
    }

    @Test(
        arguments: [
            ("a@b.de", "a@b.de", "a***@b***.de"),
            ("Ann.O'Hara+x@Mail.Example.COM", "Ann.O'Hara+x@mail.example.com", "A***@m***.com"),
            ("Bjo\u{308}rn@BÜCHER.Example", "Bjo\u{308}rn@bücher.example", "B***@b***.example"),
            ("用户@例子.公司", "用户@例子.公司", "用***@例***.公司"),
            (
                "e\u{301}\u{302}@\u{301}\u{302}a.\u{301}\u{302}de",
                "e\u{301}\u{302}@\u{301}\u{302}a.\u{301}\u{302}de", "e***@\u{301}***.\u{301}\u{302}de"
            ),
            ("\(String(repeating: "l", count: 64))@b.de", "\(String(repeating: "l", count: 64))@b.de", "l***@b***.de"),
        ]
    )
    func `an address is kept with its domain in lower case`(text: String, canonical: String, masked: String) throws {
        let recipient = try #require(email("{\"email\":\"\(text)\"}").request?.recipient)
        #expect(recipient.canonical == canonical && recipient.masked == masked && recipient.channel == .email)
    }

    @Test(
        arguments: [
            "", "a", "@", "a@", "@b.de", "a@b", "a@@b.de", "a@b@c.de", "a b@c.de", " a@b.de", "a@b.de ", "a@b.de\\n",
            "a\\r\\nBcc: x@y.de",
            "\\\"a\\\"@b.de", "a@[1.2.3.4]", "a@1.2.3.4", ".a@b.de", "a.@b.de", "a..b@c.de", "a@-b.de", "a@b-.de",
            "a@b..de", "a@b.de.",
            "ä,b@b.de", "a@bü", "a@b_ü.de", "a\u{a0}b@c.de", "a\u{202e}@b.de", "a@b\u{3000}.de", "a,b@c.de", "<a@b.de>",
            "a@b_c.de", "a\\u0000@b.de", "a(c)@b.de",
            "\(String(repeating: "l", count: 65))@b.de", "a@\(String(repeating: "l", count: 64)).de",
        ]
    )
    func `what is no plain address is refused`(text: String) {
        let invalid = email("{\"email\":\"\(text)\"}").invalid
        #expect(invalid?.field == "recipient.email" && invalid?.reason == .invalidRequest)
    }

    @Test func `an address has at most 254 characters`() {
        let labels = Array(repeating: String(repeating: "d", count: 59), count: 3).joined(separator: ".")
        let local = String(repeating: "l", count: 64)
        let rest = 254 - local.count - 1 - labels.count - 1
        #expect(EmailAddress("\(local)@\(labels).\(String(repeating: "e", count: rest))") != nil)
        #expect(EmailAddress("\(local)@\(labels).\(String(repeating: "e", count: rest + 1))") == nil)
        #expect(email("{}").invalid?.field == "recipient.email")
        #expect(email(#"{"email":5}"#).invalid?.field == "recipient.email")
        #expect(email(#"{"phoneNumber":"+16505553434"}"#).invalid?.field == "recipient.email")
    }

    @Test(arguments: [64, 200])
    func `a device token is kept in lower case with its app and environment`(length: Int) throws {
        let token = String(repeating: "aF", count: length / 2)
        let recipient = try #require(device(token).request?.recipient)
        #expect(recipient.canonical == token.lowercased() && recipient.masked == "afaf…" && recipient.channel == .apns)
        guard case .device(let plain) = recipient,
            case .device(let production) = try #require(
                device(token, extra: #","environment":"production""#).request?.recipient
            )
        else {
            Issue.record("no device")
            return
        }
        #expect(plain.environment == .unknown && production.environment == .production)
        #expect(plain.bundleID == "com.example.App")
    }

    @Test func `a device that breaks a rule is refused by the field's path`() {
        let token = String(repeating: "a", count: 64)
        #expect(device(String(token.dropLast())).invalid?.field == "recipient.deviceToken")
        #expect(device(String(repeating: "a", count: 201)).invalid?.field == "recipient.deviceToken")
        #expect(device(token.dropLast() + "g").invalid?.field == "recipient.deviceToken")
        #expect(device(token, bundle: nil).invalid?.field == "recipient.bundleId")
        #expect(device(token, bundle: "").invalid?.field == "recipient.bundleId")
        #expect(device(token, bundle: "a_b").invalid?.field == "recipient.bundleId")
        #expect(device(token, bundle: String(repeating: "b", count: 155)).request != nil)
        #expect(device(token, bundle: String(repeating: "b", count: 156)).invalid?.field == "recipient.bundleId")
        #expect(device(token, extra: #","environment":"test""#).invalid?.field == "recipient.environment")
        #expect(RequestSample.read([("channel", #""apns""#)]).invalid?.field == "recipient.deviceToken")
    }

    @Test func `nothing that describes a request shows the recipient or the client`() throws {
        let token = String(repeating: "ab12", count: 20)
        let client: (String, String?) = ("client", #"{"ip":"203.0.113.77","deviceId":"device-77"}"#)
        let readings = [
            RequestSample.read([client]), email(#"{"email":"ann@example.com"}"#), device(token),
            RequestSample.read([("subject", #""subject-9""#)]),
        ]
        let secrets = ["6505553434", "ann@", "example.com", token, "203.0.113.77", "device-77", "subject-9"]
        for reading in readings {
            let request = try #require(reading.request)
            let client = request.client
            for value: Any in [
                request, request.recipient, reading, client as Any, client?.ip as Any, [request.recipient],
            ] {
                var text = "\(value) " + String(reflecting: value)
                dump(value, to: &text)
                for secret in secrets { #expect(!text.contains(secret)) }
            }
        }
        var text = ""
        dump(PhoneNumber("+16505553434"), to: &text)
        dump(RequestSample.record(RequestSample.document()), to: &text)
        #expect(!text.contains("650555") && text.contains("requests[1]@42"))
    }

    @Test func `the digest input tells requests apart that differ and none that only repeat`() throws {
        func input(_ changes: [(String, String?)]) throws -> [UInt8] {
            try #require(RequestSample.read(changes).request).payloadDigestInput
        }
        let token = String(repeating: "a", count: 64)
        let device: [(String, String?)] = [
            ("channel", #""apns""#), ("recipient", "{\"deviceToken\":\"\(token)\",\"bundleId\":\"a\"}"),
        ]
        let other: [(String, String?)] = [
            ("channel", #""apns""#), ("recipient", "{\"deviceToken\":\"\(token)\",\"bundleId\":\"b\"}"),
        ]
        let different: [[(String, String?)]] = [
            [], [("purpose", #""sign_up""#)], [("recipient", #"{"phoneNumber":"+16505553435"}"#)], device, other,
            [("channel", #""email""#), ("recipient", #"{"email":"a@b.de"}"#)], [("languageCode", #""de""#)],
            [("appName", #""de""#)], [("subject", #""de""#)], [("autofill", #"{"domain":"b.de"}"#)],
            [("autofill", #"{"androidAppHash":"abcdefghijk"}"#)], [("actionCode", #"{"url":"https://b.de"}"#)],
            [("actionCode", #"{"linkDomain":"b.de"}"#)], [("actionCode", #"{"iosBundleId":"x"}"#)],
            [("actionCode", #"{"androidPackageName":"x"}"#)], [("actionCode", #"{"androidMinimumVersion":"x"}"#)],
            [("actionCode", #"{"androidInstallApp":true}"#)], [("actionCode", #"{"androidInstallApp":false}"#)],
            [("actionCode", #"{"handleCodeInApp":true}"#)],
        ]
        #expect(Set(try different.map(input)).count == different.count)
        let repeated: [(String, String?)] = [
            ("requestedAt", #""2026-11-20T12:34:00Z""#), ("deadline", #""2026-11-20T13:00:00Z""#),
            ("client", #"{"ip":"1.2.3.4"}"#), ("appVerification", #"{"score":0.5}"#), ("extra", "1"),
        ]
        #expect(try input(repeated) == input([]))
        #expect(try input([("languageCode", #""DE""#)]) == input([("languageCode", #""de""#)]))
        #expect(
            Array(try input([]).prefix(18)) == [0, 0, 0, 3] + Array("sms".utf8) + [0, 0, 0, 7] + Array("sign_in".utf8)
        )
    }
}
