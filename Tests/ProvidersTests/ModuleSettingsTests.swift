// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
import Foundation
import Logging
import SettingsReading
import TestTools
import Testing
import Verification

@testable import Providers
@testable import SMTPClient

/// Checks that every key of every module counts, and that each kind is in the schema and on the page.
@Suite struct ModuleSettingsTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try Self.folder()
    }

    /// A folder with the files that the entries name.
    static func folder() throws -> ScratchFolder {
        let folder = try ScratchFolder()
        try folder.write(SelfSigned.certificate, to: "ca.pem")
        try folder.write("\(SelfSigned.certificate)\n\(SelfSigned.privateKey)\n", to: "client.pem")
        try folder.write("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", to: "cut.pem")
        try folder.write("", to: "empty.pem")
        try folder.write("hidden\n", to: "password")
        try folder.write("Bearer hidden\n", to: "authorization")
        try folder.write("https://x.example/hook/hidden\n", to: "url")
        try folder.write("${SMTP_PASSWORD}\n", to: "placeholder")
        try folder.write(P256.Signing.PrivateKey().pemRepresentation, to: "key.p8")
        try folder.write(RSAKey.pem, to: "rsa.pem")
        return folder
    }

    private func read<Module: ProviderModule>(_ entry: String, as: Module.Type = Module.self) throws -> Module {
        try #require(try ModuleSettings(entry, in: folder.path).configuration() as? Module)
    }

    /// Entries that together have every key; their secrets are `hidden`.
    private static let whole = [
        """
        { name: t, kind: twilio, baseURL: "https://x.example/", accountSid: AC1, authToken: hidden, from: A, \
        statusCallback: "https://x.example/cb", callbackUrl: "https://x.example/in", rate: 10/s, proxy: "http://p:1", \
        feedback: true }
        """,
        "{ name: t, kind: twilio, accountSid: AC1, apiKeySid: SK1, apiKeySecret: hidden, messagingServiceSid: MG1 }",
        """
        { name: v, kind: vonage, api: messages, baseURL: "https://x.example/", apiKey: k, apiSecretFile: password, \
        from: "+15005550006", statusCallback: "https://x.example/cb", signatureSecret: hidden, signatureMethod: sha1 }
        """,
        "{ name: v, kind: vonage, api: messages, applicationId: i, privateKeyFile: rsa.pem, from: A }",
        """
        { name: n, kind: sns, region: eu-central-1, accessKeyId: AKIA1, secretAccessKeyFile: password, senderId: Acme-1, \
        sessionToken: hidden, originationNumber: "+12065550100", smsType: Promotional, maxPrice: 0.25 }
        """,
        """
        name: h
            kind: http
            url: "https://x.example/send/?v=2"
            method: PUT
            headers: { AuthorizationFile: authorization, X-To: "{to}" }
            body: |
              { "to": "{to}", "text": "{text}", "ttl": {ttlSeconds}, "from": "{from}", "key": "{secret}" }
            from: Acme
            secret: hidden
            caFile: ca.pem
            clientCertificateFile: client.pem
            idempotencyHeader: X-Request-Id
            idempotent: true
            messageId: data.id
            segments: data.parts
            errorCode: errors.0.code
            answers:
              - { status: 200-299, match: { data.state: queued, data.ok: true, data.code: 0 }, outcome: accepted }
              - { status: 503, outcome: notSent }
        """,
        """
        { name: m, kind: smtp, host: mail.example.com, port: 2525, tls: implicit, caFile: ca.pem, connections: 9, \
        from: "No-Reply@Example.com", heloName: out.example.com, username: u, passwordFile: password }
        """,
        """
        { name: p, kind: apns, keyId: K1, teamId: T1, privateKeyFile: key.p8, caFile: ca.pem, \
        baseURL: "https://localhost:1/", sandboxBaseURL: "https://localhost:2" }
        """, "{ name: l, kind: log }",
        "{ name: w, kind: vonage, apiKey: k, apiSecret: hidden, from: A, feedback: true }",
    ]

    // MARK: All modules

    @Test func `every module reads the keys that it lists, and makes a provider of its channel`() async throws {
        var kinds: Set<String> = []
        for entry in Self.whole {
            let settings = ModuleSettings(entry, in: folder.path)
            let module = try settings.configuration()
            #expect(settings.unread == [], "\(entry)")
            kinds.insert(type(of: module).kind)
            let client = ProviderClient(maximumConnections: 1)
            let provider = module.provider(client: client, logger: Logger(label: "test"))
            await client.shutdown()
            #expect(provider.name == module.name)
            #expect(provider.channel == type(of: module).channel)
        }
        #expect(kinds == Set(ProviderModules.all.map { $0.kind }))
    }

    @Test func `no secret of any module is printed`() throws {
        for entry in Self.whole {
            let module = try ModuleSettings(entry, in: folder.path).configuration()
            var printed = "\(module) \(String(reflecting: module))"
            dump(module, to: &printed)
            #expect(!printed.contains("hidden") && !printed.contains("PRIVATE KEY"), "\(entry)")
        }
    }

    @Test func `every kind is in the schema of the configuration, and in the table of its page`() throws {
        let kinds = ProviderModules.all.map { $0.kind }
        let root = Repository.root
        let schema = try Data(contentsOf: root.appending(path: "schemas/courier.schema.json"))
        var alternatives: JSONValue? = try JSONScanner.parse(Array(schema))
        for name in ["properties", "providers", "items", "anyOf"] { alternatives = alternatives?[name] }
        guard case .array(let entries)? = alternatives else {
            Issue.record("the schema has no list of providers")
            return
        }
        #expect(entries.map { $0["properties"]?["kind"]?["const"]?.word } == kinds)
        let page = try String(contentsOf: root.appending(path: "docs/configuration.md"), encoding: .utf8)
        let table = page.components(separatedBy: "| kind | speaks | keys |\n").last?.components(separatedBy: "\n\n")
            .first
        let rows = (table ?? "").split(separator: "\n").dropFirst().map { $0.split(separator: "`")[1] }
        #expect(rows.map(String.init) == kinds)
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        #expect(readme.contains(kinds.filter { $0 != "log" }.joined(separator: ", ")))
    }

    @Test func `a system without authorities is a fault where a provider is trusted by them`() throws {
        let entries = [
            #"{ name: plain, kind: http, url: "http://127.0.0.1:1", body: '{"to":"{to}","text":"{text}"}' }"#,
            "{ name: log, kind: log }",
            "{ name: secure, kind: twilio, accountSid: s, authToken: t, from: A }",
        ]
        let providers = try entries.map { try ModuleSettings($0).settings() }
        #expect(providers.faultOfAuthorities(systems: nil)?.contains("by which secure is trusted") == true)
        #expect(providers.faultOfAuthorities(systems: "/etc/ssl/certs/ca-certificates.crt") == nil)
        #expect(Array(providers.prefix(2)).faultOfAuthorities(systems: nil) == nil)
    }

    // MARK: Twilio, Vonage, SNS

    @Test func `every key of Twilio counts, with a token or an API key`() throws {
        let token = try read(Self.whole[0], as: TwilioConfiguration.self)
        #expect(token.baseURL == "https://x.example")
        #expect(token.credentials.username == "AC1" && token.credentials.password.revealed == "hidden")
        #expect(token.sender == .from("A"))
        #expect(token.statusCallback == "https://x.example/cb")
        #expect((token.signature?.signature as? TwilioSignature)?.callbackURL == "https://x.example/in")
        #expect(token.connection?.proxy?.host == "p" && token.connection?.proxy?.port == 1)
        let key = try read(Self.whole[1], as: TwilioConfiguration.self)
        #expect(key.accountSid == "AC1" && key.credentials.username == "SK1")
        #expect(key.sender == .messagingService(sid: "MG1"))
        #expect(key.signature == nil && key.baseURL == TwilioConfiguration.defaultBaseURL)
    }

    @Test func `every key of Vonage counts, and each API has its own address`() throws {
        let vonage = try read(Self.whole[2], as: VonageConfiguration.self)
        guard case .apiSecret("k", let secret) = vonage.credentials else {
            Issue.record("no account with a secret")
            return
        }
        #expect(vonage.api == .messages && vonage.baseURL == "https://x.example")
        #expect(secret.revealed == "hidden")
        #expect(vonage.from == "+15005550006" && vonage.callback == "https://x.example/cb")
        #expect((vonage.signature?.signature as? VonageSignature)?.digest == .sha1)
        for (api, url) in [("sms", "https://rest.nexmo.com"), ("messages", "https://api.nexmo.com")] {
            let entry = "{ name: v, kind: vonage, api: \(api), apiKey: k, apiSecret: s, from: A }"
            #expect(try read(entry, as: VonageConfiguration.self).baseURL == url)
        }
        guard case .application = try read(Self.whole[3], as: VonageConfiguration.self).credentials else {
            Issue.record("no application")
            return
        }
    }

    @Test func `every key of SNS counts`() throws {
        let sns = try read(Self.whole[4], as: SNSConfiguration.self)
        #expect(sns.baseURL == "https://sns.eu-central-1.amazonaws.com")
        #expect(sns.accessKey.id == "AKIA1" && sns.accessKey.secret.revealed == "hidden")
        #expect(sns.accessKey.sessionToken?.revealed == "hidden")
        #expect(sns.senderID == "Acme-1" && sns.originationNumber == "+12065550100")
        #expect(sns.smsType == .promotional && sns.maxPrice == "0.25")
    }

    // MARK: HTTP

    @Test func `every key of HTTP counts`() throws {
        let gateway = try read(Self.whole[5], as: GatewayConfiguration.self)
        #expect(gateway.url.filled([:], escaping: .url) == "https://x.example/send/?v=2")
        #expect(gateway.method == .put && gateway.contentType == .json)
        #expect(gateway.headers.map(\.name) == ["Authorization", "X-To"])
        let values = gateway.headers.map { $0.value.filled([.to: "+1"], escaping: .none) }
        #expect(values == ["Bearer hidden", "+1"])
        #expect(gateway.body?.variables == [.to, .text, .ttlSeconds, .from, .secret])
        #expect(gateway.secret?.revealed == "hidden")
        #expect(gateway.connection?.authorities == "\(folder.path)/ca.pem" && gateway.connection?.identity != nil)
        #expect(gateway.idempotencyHeader == "X-Request-Id" && gateway.isIdempotent)
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

    @Test func `the examples of docs/http-providers.md are whole`() throws {
        let page = Repository.file("docs/http-providers.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let examples = text.components(separatedBy: "```yaml\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(examples.count == 3)
        for (place, name) in [("relay", "authorization"), ("classic", "key"), ("bank-login", "u:p")] {
            try folder.write(name, to: place)
        }
        try folder.write("\(SelfSigned.certificate)\n\(SelfSigned.privateKey)\n", to: "bank-client.pem")
        try folder.write("\(SelfSigned.certificate)\n", to: "bank-ca.pem")
        for example in examples {
            let local = example.replacing("/run/secrets/", with: "").replacing("/etc/ssl/", with: "")
            #expect(ModuleSettings(file: local, in: folder.path).lines == [])
        }
    }

    @Test func `a form and a secret address are read, the address from a file`() throws {
        let text = """
            { name: h, kind: http, urlFile: url, contentType: application/x-www-form-urlencoded, secret: s, \
            body: "to={toDigits}&text={text}&key={secret}", messageId: id }
            """
        let gateway = try read(text, as: GatewayConfiguration.self)
        #expect(gateway.url.filled([:], escaping: .url) == "https://x.example/hook/hidden")
        #expect(gateway.contentType == .form)
        #expect(gateway.idempotencyHeader == "Idempotency-Key" && !gateway.isIdempotent)
    }

    @Test func `a gateway needs no id, and may have all in its address`() throws {
        let text = """
            { name: h, kind: http, method: GET, url: "https://x.example/s?to={toDigits}&msg={text}", basicAuth: "u:p", \
            answers: [{ status: 200, text: ERR, outcome: refused }, { status: 200, pattern: "^NO", outcome: fraud }] }
            """
        let gateway = try read(text, as: GatewayConfiguration.self)
        #expect(gateway.method == .get && gateway.body == nil)
        #expect(gateway.basicAuth?.revealed == "u:p")
        #expect(gateway.answers.map(\.text) == ["ERR", nil])
        #expect(gateway.answers.map { $0.pattern != nil } == [false, true])
    }

    // MARK: Mail and push

    @Test func `every key of SMTP counts`() throws {
        let smtp = try read(Self.whole[6], as: SMTPConfiguration.self)
        #expect(smtp.server.host == "mail.example.com" && smtp.server.port == 2525)
        #expect(smtp.server.encryption == .implicit)
        #expect(smtp.server.authorities == "\(folder.path)/ca.pem")
        #expect(smtp.server.heloName == "out.example.com")
        #expect(smtp.server.login?.username == "u" && smtp.server.login?.password == "hidden")
        #expect(smtp.from.text == "No-Reply@example.com" && smtp.connections == 9)
    }

    @Test func `SMTP needs little, and is secret unless it stays on the machine`() throws {
        let entry = "{ name: m, kind: smtp, host: mail.example.com, from: a@example.com }"
        let smtp = try read(entry, as: SMTPConfiguration.self)
        #expect(smtp.server.encryption == .startTLS && smtp.server.port == 587)
        #expect(smtp.server.heloName == "example.com" && smtp.server.login == nil && smtp.connections == 4)
        for (tls, port) in [("implicit", 465), ("starttls", 587), ("none", 25)] {
            let entry = "{ name: m, kind: smtp, host: \"[::1]\", tls: \(tls), from: a@example.com }"
            #expect(try read(entry, as: SMTPConfiguration.self).server.port == port)
        }
        let other = "{ name: m, kind: smtp, host: mail.example.com, port: 465, from: a@example.com }"
        #expect(try read(other, as: SMTPConfiguration.self).server.encryption == .implicit)
    }

    @Test func `every key of APNs counts`() throws {
        let apns = try read(Self.whole[7], as: APNsConfiguration.self)
        #expect(apns.keyID == "K1" && apns.teamID == "T1")
        #expect(apns.baseURL == "https://localhost:1" && apns.sandboxBaseURL == "https://localhost:2")
        #expect(apns.authorities == "\(folder.path)/ca.pem")
        let entry = "{ name: p, kind: apns, keyId: K1, teamId: T1, privateKeyFile: key.p8 }"
        let least = try read(entry, as: APNsConfiguration.self)
        #expect(least.baseURL == "https://api.push.apple.com")
        #expect(least.sandboxBaseURL == "https://api.sandbox.push.apple.com" && least.authorities == nil)
        for local in ["http://127.0.0.1:8025", "http://localhost", "http://[::1]:1"] {
            let text = entry.replacing(" }", with: ", baseURL: \"\(local)\" }")
            let simulated = try read(text, as: APNsConfiguration.self)
            #expect(simulated.baseURL == local)
        }
    }
}

extension JSONValue {
    fileprivate subscript(name: String) -> JSONValue? {
        if case .object(let object) = self { object[name] } else { nil }
    }
}
