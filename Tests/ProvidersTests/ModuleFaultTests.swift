// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import Providers

/// Checks what every module says of wrong settings: one line with the key and the remedy, and none of the values.
@Suite struct ModuleFaultTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ModuleSettingsTests.folder()
    }

    /// Valid settings of a kind, and changes with the only fault that each causes.
    ///
    /// A change replaces or adds `key: value`, or removes `-key`. The fault begins with a key of the entry.
    struct Kind: Sendable, CustomTestStringConvertible {
        let kind: String
        let valid: [String]
        let cases: [([String], String)]

        var testDescription: String { kind }

        func entry(_ changes: [String]) -> String {
            let key = { (text: String) in String(text.prefix { $0 != ":" }) }
            let changed = Set(changes.map { key($0.hasPrefix("-") ? String($0.dropFirst()) : $0) })
            let pairs = valid.filter { !changed.contains(key($0)) } + changes.filter { !$0.hasPrefix("-") }
            return "{ \((["name: a", "kind: \(kind)"] + pairs).joined(separator: ", ")) }"
        }
    }

    private static let address = "must be an address such as"
    private static let readable = "must name a readable file"
    private static let pem = "must name a file with certificates in PEM"
    private static let place = "must be the place"

    private static let twilio = Kind(
        kind: "twilio",
        valid: ["accountSid: AC1", "authToken: t", "from: A"],
        cases: [
            (["-accountSid"], "accountSid: is required"), (["-authToken"], "authToken: is required"),
            (["from: Acme Verifies"], "from: must be a phone number"),
            (["from: \"+1 500\""], "from: must be a phone number"), (["-from"], ": needs from or messagingServiceSid"),
            (["messagingServiceSid: m"], "messagingServiceSid: stands beside from"),
            (["baseURL: \"ftp://hidden\""], "baseURL: \(address)"),
            (["callbackUrl: hidden"], "callbackUrl: \(address)"),
            (["statusCallback: \"https://u:hidden@h\""], "statusCallback: \(address)"),
            (["apiKeySid: SK1"], "apiKeySecret: is required"),
            (["apiKeySecret: hidden"], "apiKeySid: is required"),
            (["accountSid: \"hidden 1\""], "accountSid: must be the id that Twilio's console shows"),
            (["apiSecret: hidden"], "apiSecret: is not a known key"),
            (["rate: hidden"], "rate: must be a rate such as 10/s"),
        ]
    )

    private static let vonage = Kind(
        kind: "vonage",
        valid: ["apiKey: k", "apiSecret: s", "from: A"],
        cases: [
            (["from: Twelve Chars"], "from: must be a phone number"), (["-apiKey"], "apiKey: is required"),
            (["-apiSecret"], "apiSecret: is required"), (["-from"], "from: is required"),
            (["api: sms2"], "api: must be one of sms, messages"), (["baseURL: \"ftp://h\""], "baseURL: \(address)"),
            (["statusCallback: hidden"], "statusCallback: \(address)"),
            (["signatureMethod: hidden"], "signatureMethod: must be one of md5hash, md5, sha1, sha256, sha512"),
            (["accountSid: x"], "accountSid: is not a known key"),
            (["apiSecretFile: x"], "apiSecretFile: stands beside providers.a.apiSecret; keep one of the two"),
            (["-apiKey", "-apiSecret", "api: messages", "applicationId: i"], "privateKey: is required"),
            (
                ["-apiKey", "-apiSecret", "api: messages", "applicationId: i", "privateKey: hidden"],
                "privateKey: must be an RSA private key"
            ),
        ]
    )

    private static let sns = Kind(
        kind: "sns",
        valid: ["region: us-east-1", "accessKeyId: k", "secretAccessKey: s"],
        cases: [
            (["-region"], "region: is required"), (["-accessKeyId"], "accessKeyId: is required"),
            (["-secretAccessKey"], "secretAccessKey: is required"), (["region: \"EU/1\""], "region: must be"),
            (["baseURL: \"https://h/path\""], "baseURL: must be an address such as https://host:port"),
            (["senderId: \"12345\""], "senderId: must be 3 to 11 letters"),
            (["senderId: Too-Long-A-Name"], "senderId: must be 3 to 11 letters"),
            (["originationNumber: Acme"], "originationNumber: must be a phone number"),
            (["smsType: urgent"], "smsType: must be one of Transactional, Promotional"),
            (["maxPrice: -1"], "maxPrice: must be a number from 0.0001 to 100.0, in US dollars"),
        ]
    )

    private static let http = Kind(
        kind: "http",
        valid: ["url: \"https://x.example\"", #"body: '{"to":"{to}","text":"{text}"}'"#],
        cases: [
            (["-url"], "url: is required"), (["url: \"https://u:hidden@h\""], "url: must be"),
            (["url: \"https://{to}.example/\""], "url: must be"),
            (["url: \"https://h/{tos}\""], "url: names an unknown variable"),
            (["-body", "method: GET", "url: \"https://h/{to}\""], "url: must name {text} or {code}"),
            (["basicAuth: hidden"], "basicAuth: must be a user and a password"),
            (
                ["basicAuth: \"u:hidden\"", "headers: { authorization: x }"],
                "basicAuth: stands beside a header"
            ),
            (["caFile: nowhere.pem"], "caFile: \(readable)"),
            (["clientCertificate: hidden"], "clientCertificate: must be a certificate"),
            (["clientKey: hidden"], "clientCertificate: is required"),
            (["proxy: \"https://hidden:1\""], "proxy: must be the address of an HTTP proxy"),
            (["messageIdPattern: \"(hidden\""], "messageIdPattern: must be a regular"),
            (["errorCodePattern: \"(hidden\""], "errorCodePattern: must be a regular"),
            (["messageId: id", "messageIdPattern: \"(x)\""], "messageIdPattern: stands beside messageId"),
            (["messageId: $.id"], "messageId: \(place)"), (["messageId: \"ids[0]\""], "messageId: \(place)"),
            (["messageId: data..id"], "messageId: \(place)"), (["segments: a..b"], "segments: \(place)"),
            (["errorCode: a..b"], "errorCode: \(place)"), (["-body"], "body: is required"),
            (
                [#"body: '{"to":"{to}","text":"{txt}"}'"#],
                "body: names an unknown variable; did you mean {text}?"
            ),
            (
                [#"body: '{"to":"{to}","text":"{hidden}"}'"#],
                "body: names an unknown variable; known here: {to}, {toDigits}, {text}"
            ),
            ([#"body: '{"text":"{text}"}'"#], "body: must name {text} or {code}, and {to}"),
            ([#"body: '{"to":"{to}"}'"#], "body: must name {text} or {code}, and {to}"),
            ([#"body: '{"to":{to},"text":"{text}"}'"#], "body: must be JSON when"),
            (["body: 'to={to}&text={text}'"], "body: must be JSON when"),
            (
                ["contentType: application/x-www-form-urlencoded", "body: 'to={to} &text={text}'"],
                "body: must be a form"
            ),
            ([#"body: '{"to":"{to}","text":"{text}","f":"{from}"}'"#], "body: names {from}; add from"),
            (
                [#"body: '{"to":"{to}","text":"{text}","f":"{secret}"}'"#],
                "body: names {secret}; add secret or secretFile"
            ),
            (["method: PATCH"], "method: must be one of POST, PUT, GET"),
            (["method: GET"], "body: cannot go with method: GET"),
            (["contentType: text/xml"], "contentType: must be one of"),
            (["idempotent: maybe"], "idempotent: must be true or false"),
            (["idempotencyHeader: Host"], "idempotencyHeader: must be a header"),
            (["headers: [a]"], "headers: must be a mapping"),
            (["headers: { Content-Type: a }"], "headers: the name of a header must be a header's name"),
            (["headers: { X-Text: \"{text}\" }"], "headers.X-Text: must not name {text} here"),
            (["headers: { X-A: a, x-a: b }"], "headers.x-a: is given more than once"),
            (["headers: { X-A: \"a\\nb\" }"], "headers.X-A: must be a text"),
            (["headers: { X-AFile: nowhere }"], "headers.X-AFile: \(readable)"),
            (["answers: { status: 200 }"], "answers: must be a list"),
            (["answers: [{ outcome: refused }]"], "answers[0].status: is required"),
            (["answers: [{ status: 299-200, outcome: refused }]"], "answers[0].status: must be an HTTP status"),
            (["answers: [{ status: 99, outcome: refused }]"], "answers[0].status: must be an HTTP status"),
            (["answers: [{ status: 200, outcome: sent }]"], "answers[0].outcome: must be one of accepted, notSent"),
            (
                ["answers: [{ status: 200, outcome: refused, match: { a: [] } }]"],
                "answers[0].match.a: must be a text"
            ),
        ]
    )

    private static let smtp = Kind(
        kind: "smtp",
        valid: ["host: h", "from: a@example.com"],
        cases: [
            (["-host"], "host: is required"), (["-from"], "from: is required"), (["from: hidden"], "from: \(address)"),
            (["host: \"h/hidden\""], "host: must be a host name"), (["host: \"::1\""], "host: must be a host name"),
            (["port: 0"], "port: must be a whole number from 1 to 65535"),
            (["tls: maybe"], "tls: must be one of starttls, implicit, none"),
            (["port: 465", "tls: starttls"], "tls: must be implicit at port 465"),
            (["port: 587", "tls: implicit"], "tls: must be starttls at port 587"),
            (
                ["username: u", "passwordFile: placeholder"],
                "passwordFile: must name a file whose secret has a ${…} or $(…) in it"
            ),
            (["tls: none"], "tls: can be none only where host is one of 127.0.0.1"),
            (["caFile: nowhere"], "caFile: \(readable)"), (["caFile: password"], "caFile: \(pem)"),
            (["caFile: cut.pem"], "caFile: \(pem)"), (["caFile: empty.pem"], "caFile: must name a"),
            (["caFile: ."], "caFile: \(readable)"), (["heloName: \"a b\""], "heloName: must be a host name"),
            (["connections: 65"], "connections: must be a whole number from 1 to 64"),
            (["username: hidden"], "password: is required"), (["password: hidden"], "username: is required"),
            (["username: u", "password: hidden", "passwordFile: x"], "passwordFile: stands beside"),
            (["authToken: hidden"], "authToken: is not a known key"),
        ]
    )

    private static let apns = Kind(
        kind: "apns",
        valid: ["keyId: k", "teamId: t", "privateKeyFile: key.p8"],
        cases: [
            (["-keyId"], "keyId: is required"), (["-teamId"], "teamId: is required"),
            (["-privateKeyFile"], "privateKey: is required"),
            (["keyId: \"hidden 1\""], "keyId: must be the id that Apple's site shows"),
            (["-privateKeyFile", "privateKey: hidden"], "privateKey: must be the .p8 key"),
            (["privateKeyFile: password"], "privateKeyFile: must be the .p8 key"),
            (["baseURL: \"http://h\""], "baseURL: \(address)"),
            (["baseURL: \"http://localhost.example\""], "baseURL: \(address)"), (["caFile: cut.pem"], "caFile: \(pem)"),
            (["sandboxBaseURL: \"https://u:hidden@h\""], "sandboxBaseURL: \(address)"),
            (["proxy: hidden"], "proxy: must be the address of an HTTP proxy"),
        ]
    )

    private static let log = Kind(
        kind: "log",
        valid: [],
        cases: [(["authToken: hidden"], "authToken: is not a known key")]
    )

    static let kinds = [twilio, vonage, sns, http, smtp, apns, log]

    @Test func `every module has its faults here`() {
        #expect(Self.kinds.map(\.kind) == ProviderModules.all.map { $0.kind })
    }

    @Test(arguments: kinds)
    func `a wrong entry is one line that holds none of its values`(kind: Kind) {
        #expect(ModuleSettings(kind.entry([]), in: folder.path).lines == [], "\(kind.kind)")
        for (changes, fault) in kind.cases {
            let entry = kind.entry(changes)
            let lines = ModuleSettings(entry, in: folder.path).lines
            // A missing key has the provider's name, since a variable could set it.
            let place = fault.contains(": is required") && !fault.contains("[") ? "providers.a." : "providers[0]."
            let expected = fault.hasPrefix(":") ? "providers[0]\(fault)" : place + fault
            #expect(lines.count == 1 && lines[0].hasPrefix("courier.yaml:2: \(expected)"), "\(entry): \(lines)")
            #expect(!lines.joined().contains("hidden"), "\(entry)")
        }
    }

    @Test func `an unknown kind is one line with the nearest and all kinds`() {
        let list = "must be twilio, vonage, sns, http, smtp, apns or log"
        for (word, advice) in [("twillio", "; did you mean twilio?"), ("smpp", "; did you mean smtp?"), ("pigeon", "")]
        {
            let lines = ModuleSettings("{ name: a, kind: \(word), from: A }").lines
            #expect(lines == ["courier.yaml:2: providers[0].kind: \(list)\(advice)"])
        }
        #expect(throws: Never.self) { try ModuleSettings("{ name: a, kind: LOG }").configuration() }
    }

    @Test func `an application of Vonage needs the Messages API and stands alone`() {
        let entry = "{ name: a, kind: vonage, applicationId: i, privateKey: x, apiKey: k, from: A }"
        let lines = ModuleSettings(entry).lines
        #expect(lines.contains { $0.contains("applicationId: needs api: messages") })
        #expect(lines.contains { $0.contains("apiKey: stands beside applicationId") })
    }
}
