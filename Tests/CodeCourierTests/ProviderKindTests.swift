// SPDX-License-Identifier: Apache-2.0

import Foundation
import Providers
import TestSupport
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Kinds of providers")
struct ProviderKindTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private static let rest = "postgres: { url: \"postgresql:///d\" }\npolicy: { path: p }"

    private func kind(_ entry: String, _ variables: [String: String] = [:]) throws -> ProviderSettings.Kind? {
        let environment = ExampleFiles.keys.merging(variables) { $1 }
        return try folder.load("providers:\n  - \(entry)\n\(Self.rest)", environment: environment).get()
            .providers.first?.kind
    }

    private func faults(_ entry: String, _ variables: [String: String] = [:]) throws -> [String] {
        let environment = ExampleFiles.keys.merging(variables) { $1 }
        return try folder.faults("providers:\n  - \(entry)\n\(Self.rest)", environment: environment)
    }

    // MARK: Vonage

    @Test func `every key of Vonage counts, and a variable wins`() throws {
        let text = """
            { name: v, kind: vonage, api: messages, baseURL: "https://x.example/", apiKey: k, apiSecret: in-file, \
            from: "+15005550006", statusCallback: "https://x.example/cb" }
            """
        let variables = ["PROVIDERS_V_API_SECRET": "in-env", "PROVIDERS_V_FROM": "Other"]
        guard case .vonage(let vonage) = try kind(text, variables),
            case .apiSecret("k", let secret) = vonage.credentials
        else {
            Issue.record("no Vonage provider with a secret")
            return
        }
        #expect(vonage.api == .messages)
        #expect(vonage.baseURL == "https://x.example")
        #expect(secret.revealed == "in-env")
        #expect(vonage.from == "Other")
        #expect(vonage.callback == "https://x.example/cb")
    }

    @Test func `each API of Vonage has its own address`() throws {
        for (api, url) in [("sms", "https://rest.nexmo.com"), ("messages", "https://api.nexmo.com")] {
            guard
                case .vonage(let vonage) = try kind(
                    "{ name: v, kind: vonage, api: \(api), apiKey: k, apiSecret: s, from: A }"
                )
            else {
                Issue.record("no Vonage provider")
                return
            }
            #expect(vonage.baseURL == url)
        }
    }

    // MARK: SNS

    @Test func `every key of SNS counts, and its secrets may stand in files or variables`() throws {
        _ = try folder.write("in-file\n", to: "aws")
        let text = """
            { name: n, kind: sns, region: eu-central-1, accessKeyId: AKIA1, secretAccessKeyFile: aws, senderId: Acme-1, \
            originationNumber: "+12065550100", smsType: Promotional, maxPrice: 0.25 }
            """
        guard case .sns(let sns) = try kind(text, ["PROVIDERS_N_SESSION_TOKEN": "token"]) else {
            Issue.record("no SNS provider")
            return
        }
        #expect(sns.baseURL == "https://sns.eu-central-1.amazonaws.com")
        #expect(sns.accessKey.id == "AKIA1")
        #expect(sns.accessKey.secret.revealed == "in-file")
        #expect(sns.accessKey.sessionToken?.revealed == "token")
        #expect(sns.senderID == "Acme-1")
        #expect(sns.originationNumber == "+12065550100")
        #expect(sns.smsType == .promotional)
        #expect(sns.maxPrice == "0.25")
    }

    // MARK: HTTP

    @Test func `every key of HTTP counts`() throws {
        _ = try folder.write("Bearer in-file\n", to: "authorization")
        let text = """
            name: h
                kind: http
                url: "https://x.example/send/?v=2"
                method: PUT
                headers: { AuthorizationFile: authorization, X-To: "{to}" }
                body: |
                  { "to": "{to}", "text": "{text}", "ttl": {ttlSeconds}, "from": "{from}", "key": "{secret}" }
                from: Acme
                secret: hidden
                idempotencyHeader: X-Request-Id
                idempotent: true
                messageId: data.id
                segments: data.parts
                errorCode: errors.0.code
                answers:
                  - { status: 200-299, match: { data.state: queued, data.ok: true, data.code: 0 }, outcome: accepted }
                  - { status: 503, outcome: notSent }
            """
        guard case .http(let gateway) = try kind(text) else {
            Issue.record("no HTTP provider")
            return
        }
        #expect(gateway.url.filled([:], escaping: .url) == "https://x.example/send/?v=2")
        #expect(gateway.method == .put)
        #expect(gateway.contentType == .json)
        #expect(gateway.headers.map(\.name) == ["Authorization", "X-To"])
        let values = gateway.headers.map { $0.value.filled([.to: "+1"], escaping: .none) }
        #expect(values == ["Bearer in-file", "+1"])
        #expect(gateway.body?.variables == [.to, .text, .ttlSeconds, .from, .secret])
        #expect(gateway.secret?.revealed == "hidden")
        #expect(gateway.idempotencyHeader == "X-Request-Id")
        #expect(gateway.isIdempotent)
        guard case .path(AnswerPath("data.id"))? = gateway.messageID,
            case .path(AnswerPath("errors.0.code"))? = gateway.errorCode
        else {
            Issue.record("not where the message's id and the error's code are")
            return
        }
        #expect(gateway.segments == AnswerPath("data.parts"))
        #expect(gateway.answers.map(\.outcome) == [.accepted, .notSent])
        #expect(gateway.answers.map(\.statuses) == [200...299, 503...503])
        let path = try #require(AnswerPath("data.ok"))
        #expect(gateway.answers.first?.match[path] == "true")
        #expect(gateway.answers.first?.match.count == 3)
    }

    @Test func `a form and a secret address are read from variables and files`() throws {
        _ = try folder.write("https://x.example/hook/hidden\n", to: "url")
        let text = """
            { name: h, kind: http, urlFile: url, contentType: application/x-www-form-urlencoded, \
            body: "to={toDigits}&text={text}&key={secret}", messageId: id }
            """
        guard case .http(let gateway) = try kind(text, ["PROVIDERS_H_SECRET": "env"]) else {
            Issue.record("no HTTP provider")
            return
        }
        #expect(gateway.url.filled([:], escaping: .url) == "https://x.example/hook/hidden")
        #expect(gateway.contentType == .form)
        #expect(gateway.secret?.revealed == "env")
        #expect(gateway.idempotencyHeader == "Idempotency-Key")
        #expect(!gateway.isIdempotent)
    }

    @Test func `a gateway needs no id, and may have all in its address`() throws {
        let text = """
            { name: h, kind: http, method: GET, url: "https://x.example/s?to={toDigits}&msg={text}", basicAuth: "u:p", \
            answers: [{ status: 200, text: ERR, outcome: refused }, { status: 200, pattern: "^NO", outcome: fraud }] }
            """
        guard case .http(let gateway) = try kind(text) else {
            Issue.record("no HTTP provider")
            return
        }
        #expect(gateway.method == .get)
        #expect(gateway.body == nil)
        #expect(gateway.basicAuth?.revealed == "u:p")
        #expect(gateway.answers.map(\.text) == ["ERR", nil])
        #expect(gateway.answers.map { $0.pattern != nil } == [false, true])
    }

    @Test func `an account of Twilio may call with an API key, through a proxy`() throws {
        let text = """
            { name: t, kind: twilio, accountSid: AC1, apiKeySid: SK1, apiKeySecret: s, from: A, \
            proxy: "http://u:p@proxy.example:3128" }
            """
        guard case .twilio(let twilio) = try kind(text) else {
            Issue.record("no Twilio provider")
            return
        }
        #expect(twilio.accountSid == "AC1")
        #expect(twilio.connection?.proxy?.host == "proxy.example")
        #expect(twilio.connection?.proxy?.port == 3128)
    }

    @Test func `the examples of docs/http-providers.md are whole`() throws {
        let page = URL(filePath: #filePath).appending(path: "../../../docs/http-providers.md").standardized
        let text = try String(contentsOf: page, encoding: .utf8)
        let examples = text.components(separatedBy: "```yaml\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(examples.count == 3)
        for (place, name) in [("relay", "authorization"), ("classic", "key"), ("bank-login", "u:p")] {
            _ = try folder.write(name, to: place)
        }
        _ = try folder.write("\(SelfSigned.certificate)\n\(SelfSigned.privateKey)\n", to: "bank-client.pem")
        _ = try folder.write("\(SelfSigned.certificate)\n", to: "bank-ca.pem")
        for example in examples {
            let local = example.replacing("/run/secrets/", with: "").replacing("/etc/ssl/", with: "")
            let loaded = try folder.load("\(local)\n\(Self.rest)", environment: ExampleFiles.keys)
            if case .failure(let faults) = loaded { Issue.record("\(faults)") }
        }
    }

    @Test func `a system without authorities is a fault where a provider is trusted by them`() throws {
        let text = """
            providers:
              - { name: plain, kind: http, url: "http://127.0.0.1:1", body: '{"to":"{to}","text":"{text}"}' }
              - { name: secure, kind: http, url: "https://x.example", body: '{"to":"{to}","text":"{text}"}' }
            """
        let providers = try folder.load("\(text)\n\(Self.rest)", environment: ExampleFiles.keys).get().providers
        #expect(providers.faultOfAuthorities(systems: nil)?.contains("by which secure is trusted") == true)
        #expect(providers.faultOfAuthorities(systems: "/etc/ssl/certs/ca-certificates.crt") == nil)
        #expect(Array(providers.prefix(1)).faultOfAuthorities(systems: nil) == nil)
    }

    // MARK: Faults

    private static let vonage = "{ name: a, kind: vonage, apiKey: k, apiSecret: s, from: A"
    private static let sns = "{ name: a, kind: sns, region: us-east-1, accessKeyId: k, secretAccessKey: s"
    private static let body = #"body: '{"to":"{to}","text":"{text}"}'"#
    private static let http = "{ name: a, kind: http, url: \"https://x.example\""

    /// Pairs of an entry, and the start of its only fault line.
    static let wrong: [(String, String)] = [
        (
            "{ name: a, kind: vonage, apiKey: k, apiSecret: s, from: Twelve Chars }",
            "providers[0].from: must be a phone"
        ),
        ("{ name: a, kind: vonage, apiKey: k, apiSecret: s, from: \"${SENDER}\" }", "providers[0].from: has a ${…} or"),
        (
            "{ name: a, kind: twilio, accountSid: s, authToken: t, from: Acme Verifies }",
            "providers[0].from: must be a phone number"
        ),
        (
            "{ name: a, kind: twilio, accountSid: s, authToken: t, from: \"+1 500\" }",
            "providers[0].from: must be a phone"
        ),
        ("{ name: a, kind: vonage, apiSecret: s, from: A }", "providers.a.apiKey: is required"),
        ("{ name: a, kind: vonage, apiKey: k, from: A }", "providers.a.apiSecret: is required"),
        ("{ name: a, kind: vonage, apiKey: k, apiSecret: s }", "providers.a.from: is required"),
        ("\(vonage), api: sms2 }", "providers[0].api: must be one of sms, messages"),
        ("\(vonage), baseURL: \"ftp://h\" }", "providers[0].baseURL: must be an address"),
        ("\(vonage), accountSid: x }", "providers[0].accountSid: is not a known key"),
        (
            "\(vonage), apiSecretFile: x }",
            "providers[0].apiSecretFile: stands beside providers.a.apiSecret; keep one of the two"
        ),
        (
            "{ name: a, kind: vonage, api: messages, applicationId: i, from: A }",
            "providers.a.privateKey: is required"
        ),
        (
            "{ name: a, kind: vonage, api: messages, applicationId: i, privateKey: hidden, from: A }",
            "providers[0].privateKey: must be an RSA private key"
        ),
        ("{ name: a, kind: sns, accessKeyId: k, secretAccessKey: s }", "providers.a.region: is required"),
        ("{ name: a, kind: sns, region: r, secretAccessKey: s }", "providers.a.accessKeyId: is required"),
        ("{ name: a, kind: sns, region: r, accessKeyId: k }", "providers.a.secretAccessKey: is required"),
        ("\(sns), baseURL: \"https://h/path\" }", "providers[0].baseURL: must be an address such as https://host:port"),
        ("\(sns), senderId: \"12345\" }", "providers[0].senderId: must be 3 to 11 letters"),
        ("\(sns), senderId: Too-Long-A-Name }", "providers[0].senderId: must be 3 to 11 letters"),
        ("\(sns), originationNumber: Acme }", "providers[0].originationNumber: must be a phone number"),
        ("\(sns), smsType: urgent }", "providers[0].smsType: must be one of Transactional, Promotional"),
        ("\(sns), maxPrice: -1 }", "providers[0].maxPrice: must be a number from 0.0001 to 100.0, in US dollars"),
        (
            "{ name: a, kind: sns, region: \"EU/1\", accessKeyId: k, secretAccessKey: s }",
            "providers[0].region: must be"
        ),
        ("{ name: a, kind: http, \(body), messageId: id }", "providers.a.url: is required"),
        ("{ name: a, kind: http, url: \"https://u:hidden@h\", \(body), messageId: id }", "providers[0].url: must be"),
        ("{ name: a, kind: http, url: \"https://{to}.example/\", \(body) }", "providers[0].url: must be"),
        ("{ name: a, kind: http, url: \"https://h/{tos}\", \(body) }", "providers[0].url: names an unknown variable"),
        (
            "{ name: a, kind: http, method: GET, url: \"https://h/{to}\" }",
            "providers[0].url: must name {text} or {code}"
        ),
        ("\(http), basicAuth: hidden, \(body) }", "providers[0].basicAuth: must be a user and a password"),
        (
            "\(http), basicAuth: \"u:hidden\", headers: { authorization: x }, \(body) }",
            "providers[0].basicAuth: stands beside a header"
        ),
        ("\(http), caFile: nowhere.pem, \(body) }", "providers[0].caFile: must name a readable file"),
        ("\(http), clientCertificate: hidden, \(body) }", "providers[0].clientCertificate: must be a certificate"),
        ("\(http), clientKey: hidden, \(body) }", "providers.a.clientCertificate: is required"),
        ("\(http), proxy: \"https://hidden:1\", \(body) }", "providers[0].proxy: must be the address of an HTTP proxy"),
        ("\(http), messageIdPattern: \"(hidden\", \(body) }", "providers[0].messageIdPattern: must be a regular"),
        (
            "\(http), messageId: id, messageIdPattern: \"(x)\", \(body) }",
            "providers[0].messageIdPattern: stands beside messageId"
        ),
        ("\(http), messageId: $.id, \(body) }", "providers[0].messageId: must be the place"),
        ("\(http), messageId: \"ids[0]\", \(body) }", "providers[0].messageId: must be the place"),
        (
            "{ name: a, kind: twilio, accountSid: AC1, apiKeySid: SK1, from: A }",
            "providers.a.apiKeySecret: is required"
        ),
        (
            "{ name: a, kind: twilio, accountSid: AC1, apiKeySecret: hidden, from: A }",
            "providers.a.apiKeySid: is required"
        ),
        ("\(http), messageId: id }", "providers.a.body: is required"),
        (
            "\(http), body: '{\"to\":\"{to}\",\"text\":\"{txt}\"}', messageId: id }",
            "providers[0].body: names an unknown variable; did you mean {text}?"
        ),
        (
            "\(http), body: '{\"to\":\"{to}\",\"text\":\"{hidden}\"}', messageId: id }",
            "providers[0].body: names an unknown variable; known here: {to}, {toDigits}, {text}"
        ),
        (
            "\(http), body: '{\"text\":\"{text}\"}', messageId: id }",
            "providers[0].body: must name {text} or {code}, and {to}"
        ),
        (
            "\(http), body: '{\"to\":\"{to}\"}', messageId: id }",
            "providers[0].body: must name {text} or {code}, and {to}"
        ),
        ("\(http), body: '{\"to\":{to},\"text\":\"{text}\"}', messageId: id }", "providers[0].body: must be JSON when"),
        ("\(http), body: 'to={to}&text={text}', messageId: id }", "providers[0].body: must be JSON when"),
        (
            "\(http), contentType: application/x-www-form-urlencoded, body: 'to={to} &text={text}', messageId: id }",
            "providers[0].body: must be a form"
        ),
        (
            "\(http), body: '{\"to\":\"{to}\",\"text\":\"{text}\",\"f\":\"{from}\"}', messageId: id }",
            "providers[0].body: names {from}; add from"
        ),
        (
            "\(http), body: '{\"to\":\"{to}\",\"text\":\"{text}\",\"f\":\"{secret}\"}', messageId: id }",
            "providers[0].body: names {secret}; add secret or secretFile"
        ),
        ("\(http), \(body), messageId: id, method: PATCH }", "providers[0].method: must be one of POST, PUT, GET"),
        ("\(http), \(body), messageId: id, method: GET }", "providers[0].body: cannot go with method: GET"),
        ("\(http), \(body), messageId: id, contentType: text/xml }", "providers[0].contentType: must be one of"),
        ("\(http), \(body), messageId: id, idempotent: maybe }", "providers[0].idempotent: must be true or false"),
        (
            "\(http), \(body), messageId: id, idempotencyHeader: Host }",
            "providers[0].idempotencyHeader: must be a header"
        ),
        ("\(http), \(body), messageId: data..id }", "providers[0].messageId: must be the place"),
        ("\(http), \(body), messageId: id, headers: [a] }", "providers[0].headers: must be a mapping"),
        (
            "\(http), \(body), messageId: id, headers: { Content-Type: a } }",
            "providers[0].headers: the name of a header must be a header's name"
        ),
        (
            "\(http), \(body), messageId: id, headers: { X-Text: \"{text}\" } }",
            "providers[0].headers.X-Text: must not name {text} here"
        ),
        (
            "\(http), \(body), messageId: id, headers: { X-A: a, x-a: b } }",
            "providers[0].headers.x-a: is given more than once"
        ),
        ("\(http), \(body), messageId: id, headers: { X-A: \"a\\nb\" } }", "providers[0].headers.X-A: must be a text"),
        (
            "\(http), \(body), messageId: id, headers: { X-AFile: nowhere } }",
            "providers[0].headers.X-AFile: must name a readable file"
        ),
        ("\(http), \(body), messageId: id, answers: { status: 200 } }", "providers[0].answers: must be a list"),
        (
            "\(http), \(body), messageId: id, answers: [{ outcome: refused }] }",
            "providers[0].answers[0].status: is required"
        ),
        (
            "\(http), \(body), messageId: id, answers: [{ status: 299-200, outcome: refused }] }",
            "providers[0].answers[0].status: must be an HTTP status"
        ),
        (
            "\(http), \(body), messageId: id, answers: [{ status: 99, outcome: refused }] }",
            "providers[0].answers[0].status: must be an HTTP status"
        ),
        (
            "\(http), \(body), messageId: id, answers: [{ status: 200, outcome: sent }] }",
            "providers[0].answers[0].outcome: must be one of accepted, notSent"
        ),
        (
            "\(http), \(body), messageId: id, answers: [{ status: 200, outcome: refused, match: { a: [] } }] }",
            "providers[0].answers[0].match.a: must be a text"
        ),
    ]

    @Test(arguments: wrong)
    func `a wrong entry is one line that holds none of its values`(entry: String, expected: String) throws {
        let faults = try faults(entry)
        #expect(faults.count == 1, "\(faults)")
        #expect(faults.first?.hasPrefix("courier.yaml:2: \(expected)") == true, "\(faults)")
        #expect(!faults.joined().contains("hidden"))
    }

    @Test func `an application of Vonage needs the Messages API and stands alone`() throws {
        let entry = "{ name: a, kind: vonage, applicationId: i, privateKey: x, apiKey: k, from: A }"
        let faults = try faults(entry)
        #expect(faults.contains { $0.contains("applicationId: needs api: messages") })
        #expect(faults.contains { $0.contains("apiKey: stands beside applicationId") })
    }

    @Test func `no secret of any kind is printed`() throws {
        _ = try folder.write("hidden-file", to: "secret")
        let list = """
            providers:
              - { name: a, kind: vonage, apiKey: k, apiSecret: hidden-1, from: A }
              - { name: b, kind: sns, region: r, accessKeyId: k, secretAccessKey: hidden-2, sessionToken: hidden-3 }
              - { name: c, kind: http, url: "https://h/hidden-4", body: '{"to":"{to}","text":"{text}","k":"hidden-5"}', \
            secret: hidden-6, messageId: id, headers: { AuthorizationFile: secret, X-Key: hidden-7 } }
            """
        let configuration = try folder.load("\(list)\n\(Self.rest)").get()
        #expect(configuration.providers.count == 3)
        var printed = "\(configuration) \(String(reflecting: configuration))"
        dump(configuration, to: &printed)
        #expect(!printed.contains("hidden"))
    }
}
