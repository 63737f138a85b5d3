// SPDX-License-Identifier: Apache-2.0

import Crypto
import Providers
import SMTPClient
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Settings of mail servers and pushes")
struct MailAndPushSettingsTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        _ = try folder.write(SelfSigned.certificate, to: "ca.pem")
        _ = try folder.write("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", to: "cut.pem")
        _ = try folder.write("", to: "empty.pem")
        _ = try folder.write("hidden\n", to: "password")
        _ = try folder.write("${SMTP_PASSWORD}\n", to: "placeholder")
        _ = try folder.write(P256.Signing.PrivateKey().pemRepresentation, to: "key.p8")
    }

    private static let rest = "postgres: { url: \"postgresql:///d\" }\npolicy: { path: p }"

    private func provider(_ entry: String, _ variables: [String: String] = [:]) throws -> ProviderSettings? {
        let environment = ExampleFiles.keys.merging(variables) { $1 }
        return try folder.load("providers:\n  - \(entry)\n\(Self.rest)", environment: environment).get()
            .providers.first
    }

    private func smtp(_ entry: String, _ variables: [String: String] = [:]) throws -> SMTPConfiguration? {
        guard case .smtp(let smtp)? = try provider(entry, variables)?.kind else { return nil }
        return smtp
    }

    private func apns(_ entry: String, _ variables: [String: String] = [:]) throws -> APNsConfiguration? {
        guard case .apns(let apns)? = try provider(entry, variables)?.kind else { return nil }
        return apns
    }

    @Test func `every key of SMTP counts, and a variable wins`() throws {
        let text = """
            { name: m, kind: smtp, host: mail.example.com, port: 2525, tls: implicit, caFile: ca.pem, \
            from: "No-Reply@Example.com", heloName: out.example.com, username: u, passwordFile: password, connections: 9 }
            """
        let smtp = try #require(try smtp(text, ["PROVIDERS_M_USERNAME": "other"]))
        #expect(smtp.server.host == "mail.example.com")
        #expect(smtp.server.port == 2525)
        #expect(smtp.server.encryption == .implicit)
        #expect(smtp.server.authorities == "\(folder.path)/ca.pem")
        #expect(smtp.server.heloName == "out.example.com")
        #expect(smtp.server.login?.username == "other")
        #expect(smtp.from.text == "No-Reply@example.com")
        #expect(smtp.connections == 9)
    }

    @Test func `SMTP needs little, and is secret unless it stays on the machine`() throws {
        let smtp = try #require(try smtp("{ name: m, kind: smtp, host: mail.example.com, from: a@example.com }"))
        #expect(smtp.server.encryption == .startTLS)
        #expect(smtp.server.port == 587)
        #expect(smtp.server.heloName == "example.com")
        #expect(smtp.server.login == nil)
        #expect(smtp.connections == 4)
        for (tls, port) in [("implicit", 465), ("starttls", 587), ("none", 25)] {
            let entry = "{ name: m, kind: smtp, host: \"[::1]\", tls: \(tls), from: a@example.com }"
            #expect(try self.smtp(entry)?.server.port == port)
        }
        let other = "{ name: m, kind: smtp, host: mail.example.com, port: 465, from: a@example.com }"
        #expect(try self.smtp(other)?.server.encryption == .implicit)
    }

    @Test func `every key of APNs counts`() throws {
        let text = """
            { name: p, kind: apns, keyId: K1, teamId: T1, privateKeyFile: key.p8, caFile: ca.pem, \
            baseURL: "https://localhost:1/", sandboxBaseURL: "https://localhost:2" }
            """
        let apns = try #require(try apns(text))
        #expect(apns.keyID == "K1")
        #expect(apns.teamID == "T1")
        #expect(apns.baseURL == "https://localhost:1")
        #expect(apns.sandboxBaseURL == "https://localhost:2")
        #expect(apns.authorities == "\(folder.path)/ca.pem")
        let least = try #require(
            try self.apns("{ name: p, kind: apns, keyId: K1, teamId: T1, privateKeyFile: key.p8 }")
        )
        #expect(least.baseURL == "https://api.push.apple.com")
        #expect(least.sandboxBaseURL == "https://api.sandbox.push.apple.com")
        #expect(least.authorities == nil)
    }

    @Test func `the channel of a provider is that of its kind`() throws {
        #expect(try provider("{ name: m, kind: smtp, host: h, from: a@example.com }")?.channel == .email)
        let push = "{ name: p, kind: apns, keyId: K1, teamId: T1, privateKeyFile: key.p8 }"
        #expect(try provider(push)?.channel == .apns)
    }

    private static let smtp = "{ name: a, kind: smtp, host: h, from: a@example.com"
    private static let apns = "{ name: a, kind: apns, keyId: k, teamId: t"

    /// Pairs of an entry, and the start of its only fault line.
    static let wrong: [(String, String)] = [
        ("{ name: a, kind: smtp, from: a@example.com }", "providers.a.host: is required"),
        ("{ name: a, kind: smtp, host: h }", "providers.a.from: is required"),
        ("{ name: a, kind: smtp, host: h, from: hidden }", "providers[0].from: must be an address such as"),
        ("{ name: a, kind: smtp, host: \"h/hidden\", from: a@example.com }", "providers[0].host: must be a host name"),
        ("{ name: a, kind: smtp, host: \"::1\", from: a@example.com }", "providers[0].host: must be a host name"),
        ("\(smtp), port: 0 }", "providers[0].port: must be a whole number from 1 to 65535"),
        ("\(smtp), tls: maybe }", "providers[0].tls: must be one of starttls, implicit, none"),
        ("\(smtp), port: 465, tls: starttls }", "providers[0].tls: must be implicit at port 465"),
        ("\(smtp), port: 587, tls: implicit }", "providers[0].tls: must be starttls at port 587"),
        ("\(smtp), username: u, password: \"${SMTP_PASSWORD}\" }", "providers[0].password: has a ${…} or $(…) in it"),
        (
            "\(smtp), username: u, passwordFile: placeholder }",
            "providers[0].passwordFile: must name a file whose secret has"
        ),
        ("\(smtp), tls: none }", "providers[0].tls: can be none only where host is one of 127.0.0.1"),
        ("\(smtp), caFile: nowhere }", "providers[0].caFile: must name a readable file"),
        ("\(smtp), caFile: password }", "providers[0].caFile: must name a file with certificates in PEM"),
        ("\(smtp), caFile: cut.pem }", "providers[0].caFile: must name a file with certificates in PEM"),
        ("\(smtp), caFile: empty.pem }", "providers[0].caFile: must name a"),
        ("\(smtp), caFile: . }", "providers[0].caFile: must name a readable file"),
        ("\(smtp), heloName: \"a b\" }", "providers[0].heloName: must be a host name"),
        ("\(smtp), connections: 65 }", "providers[0].connections: must be a whole number from 1 to 64"),
        ("\(smtp), username: hidden }", "providers.a.password: is required"),
        ("\(smtp), password: hidden }", "providers.a.username: is required"),
        ("\(smtp), username: u, password: hidden, passwordFile: x }", "providers[0].passwordFile: stands beside"),
        ("\(smtp), authToken: hidden }", "providers[0].authToken: is not a known key"),
        ("{ name: a, kind: apns, teamId: t, privateKeyFile: key.p8 }", "providers.a.keyId: is required"),
        ("{ name: a, kind: apns, keyId: k, privateKeyFile: key.p8 }", "providers.a.teamId: is required"),
        ("\(apns) }", "providers.a.privateKey: is required"),
        ("\(apns), privateKey: hidden }", "providers[0].privateKey: must be the .p8 key"),
        ("\(apns), privateKeyFile: password }", "providers[0].privateKeyFile: must be the .p8 key"),
        ("\(apns), privateKeyFile: key.p8, baseURL: \"http://h\" }", "providers[0].baseURL: must be an address such"),
        (
            "\(apns), privateKeyFile: key.p8, sandboxBaseURL: \"https://u:hidden@h\" }",
            "providers[0].sandboxBaseURL: must be an address such"
        ),
    ]

    @Test(arguments: wrong)
    func `a wrong entry is one line that holds none of its values`(entry: String, expected: String) throws {
        let faults = try folder.faults("providers:\n  - \(entry)\n\(Self.rest)")
        #expect(faults.count == 1, "\(faults)")
        #expect(faults.first?.hasPrefix("courier.yaml:2: \(expected)") == true, "\(faults)")
        #expect(!faults.joined().contains("hidden"))
    }

    @Test func `no password and no key is printed`() throws {
        let entries = """
            providers:
              - { name: a, kind: smtp, host: h, from: a@example.com, username: u, passwordFile: password }
              - { name: b, kind: apns, keyId: k, teamId: t, privateKeyFile: key.p8 }
            """
        let configuration = try folder.load("\(entries)\n\(Self.rest)").get()
        #expect(configuration.providers.count == 2)
        var printed = "\(configuration) \(String(reflecting: configuration))"
        dump(configuration, to: &printed)
        #expect(!printed.contains("hidden"))
        #expect(!printed.contains("PRIVATE KEY"))
    }
}
