// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Logging
import Logs
import Providers
import SettingsReading
import TestTools
import Testing
import Verification

@testable import CodeCourier
@testable import SMTPClient

/// Tests values with the additions of editors, shells and secret stores, and with invalid characters inside.
@Suite("Values as operators write them")
struct StatedTextTests {
    private struct Missing: Error {}

    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private static let twilio = ExampleFiles.smallest.replacing(
        "{ name: main, kind: log }",
        with: "{ name: main, kind: twilio, accountSid: AC1, from: \"+15005550006\" }"
    )

    /// The token of the only provider, from a variable or from a file that a variable names.
    private func token(_ variables: [String: String]) throws -> String? {
        let environment = ExampleFiles.keys.merging(variables) { _, new in new }
        let configuration = try folder.load(Self.twilio, environment: environment).get()
        guard let twilio = configuration.providers.first?.configuration as? TwilioConfiguration else { return nil }
        return twilio.credentials.password.revealed
    }

    private func faults(_ text: String, _ variables: [String: String]) throws -> [String] {
        try folder.faults(text, environment: ExampleFiles.keys.merging(variables) { _, new in new })
    }

    static let around = [
        "t0ken", "t0ken\n", "t0ken\r\n", "t0ken\n\n\n", "\r\n\r\nt0ken\r\n\r\n", " t0ken ", "\tt0ken\t\n",
        "\u{feff}t0ken",
        "\u{feff}t0ken\n", "t0ken\u{feff}", "t0ken\u{a0}", "\u{a0} t0ken\u{2003}", "t0ken\u{200b}", "t0ken\n \n\t\n",
    ]

    @Test(arguments: around)
    func `what stands around a secret is no part of it, in a variable, a file and the configuration`(
        text: String
    ) throws {
        let path = try folder.write(text, to: "token")
        #expect(try token(["PROVIDERS_MAIN_AUTH_TOKEN_FILE": path]) == "t0ken")
        #expect(try token(["PROVIDERS_MAIN_AUTH_TOKEN": text]) == "t0ken")
        let json = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        let inline = Self.twilio.replacing("accountSid:", with: "authToken: \(json), accountSid:")
        guard
            let twilio = try folder.load(inline, environment: ExampleFiles.keys).get().providers[0].configuration
                as? TwilioConfiguration
        else { throw Missing() }
        #expect(twilio.credentials.password.revealed == "t0ken")
    }

    static let inside: [(String, String)] = [
        ("t0 ken", "white space inside it"), ("t0\tken", "white space inside it"),
        ("t0\u{a0}ken", "white space inside it"),
        ("t0\nken", "line ends inside it"), ("t0\r\nken\n", "line ends inside it"),
        ("t0\u{0}ken", "control characters"),
        ("t0ken\u{0}", "control characters"), ("\"t0ken\"", "quotes around it"), ("'t0ken'\n", "quotes around it"),
        ("“t0ken”", "quotes around it"),
    ]

    @Test(arguments: inside)
    func `what a provider would refuse is a fault with the file and without the content`(
        text: String,
        flaw: String
    ) throws {
        let path = try folder.write(text, to: "twilio")
        let inFile = try faults(Self.twilio, ["PROVIDERS_MAIN_AUTH_TOKEN_FILE": path])
        let start = "environment PROVIDERS_MAIN_AUTH_TOKEN_FILE: providers.main.authTokenFile: must name a file"
        #expect(inFile.count == 1 && inFile[0].hasPrefix("\(start) whose secret has no \(flaw)"), "\(inFile)")
        #expect(inFile.first?.hasSuffix("; twilio has such") == true, "\(inFile)")
        #expect(inFile.first?.replacing("authToken", with: "").contains("ken") == false)
        guard !text.contains("\u{0}") else { return }
        let inVariable = try faults(Self.twilio, ["PROVIDERS_MAIN_AUTH_TOKEN": text])
        let place = "environment PROVIDERS_MAIN_AUTH_TOKEN: providers.main.authToken"
        #expect(inVariable.count == 1 && inVariable[0].hasPrefix("\(place): must have no \(flaw)"), "\(inVariable)")
    }

    static let quoted: [(String, String)] = [
        ("KAFKA_BOOTSTRAP_SERVERS", "\"a:1\""), ("KAFKA_GROUP_ID", "'g'"), ("POSTGRES_URL", "\"postgresql:///d\""),
        ("POLICY_PATH", "\"p\""), ("WORKER_BATCH_SIZE", "\"10\""), ("LOG_LEVEL", "'info'"),
        ("KEYS_CODE", "\"\(ExampleFiles.ring(1, filledWith: 1))\""), ("PROVIDERS_MAIN_FROM", "\"Acme\""),
    ]

    @Test(arguments: quoted)
    func `quotes around a variable's value are one fault that names it`(variable: String, value: String) throws {
        let text = Self.twilio.replacing("accountSid:", with: "authToken: t, accountSid:")
        let faults = try faults(text, [variable: value])
        #expect(faults.count == 1 && faults[0].hasPrefix("environment \(variable): "), "\(faults)")
        #expect(faults.first?.contains("must have no quotes around it") == true)
    }

    @Test func `quotes and blanks around a value of the file are read as those of a variable`() throws {
        let blank = Self.twilio.replacing("\"+15005550006\"", with: "\" Acme\\n\", authToken: t")
        guard
            let twilio = try folder.load(blank, environment: ExampleFiles.keys).get().providers[0].configuration
                as? TwilioConfiguration
        else { throw Missing() }
        #expect(twilio.sender == .from("Acme"))
        let quoted = Self.twilio.replacing("\"+15005550006\"", with: "'\"Acme\"', authToken: t")
        let message = "must have no quotes around it, which would be part of it"
        #expect(try faults(quoted, [:]) == ["courier.yaml:3: providers[0].from: \(message)"])
    }

    @Test func `a body may be a text in quotes`() throws {
        let text = ExampleFiles.smallest.replacing(
            "{ name: main, kind: log }",
            with: "{ name: main, kind: http, url: \"https://a.example/{toDigits}\", body: '\"{text}\"' }"
        )
        #expect(try faults(text, [:]) == [])
        #expect(try faults(text, ["PROVIDERS_MAIN_BODY": "\"{text}\""]) == [])
    }

    @Test func `quotes of a variable that is no key's are nobody's concern`() throws {
        #expect(try faults(ExampleFiles.smallest, ["PS1": "\"x\"", "KAFKA_HEAP_OPTS": "\"-Xmx1g\""]).isEmpty)
    }

    @Test(arguments: ["\n", "\r\n", ",\n", ", ", ",\r\n  ", "\n\n"])
    func `a ring has its keys on one line or on several`(separator: String) throws {
        let keys = [ExampleFiles.ring(2, filledWith: 9), ExampleFiles.ring(1, filledWith: 8)]
        let path = try folder.write("\u{feff}\(keys.joined(separator: separator))\r\n", to: "hash")
        let environment = ExampleFiles.keys.merging(["KEYS_HASH": "", "KEYS_HASH_FILE": path]) { _, new in new }
        let ring = try folder.load(ExampleFiles.smallest, environment: environment).get().keys.hash
        #expect(ring.ids.map(\.number) == [2, 1])
    }

    @Test(arguments: ["\n", "\r\n", "\\n"])
    func `a key in PEM has its lines, also on one line of a variable`(end: String) throws {
        let text = ExampleFiles.smallest.replacing(
            "{ name: main, kind: log }",
            with: "{ name: main, kind: apns, keyId: ABC123DEFG, teamId: DEF123GHIJ }"
        )
        let lines = P256.Signing.PrivateKey().pemRepresentation.split(separator: "\n")
        let key = lines.joined(separator: end) + end
        let path = try folder.write("\u{feff}\(key)\n", to: "key.p8")
        #expect(try faults(text, ["PROVIDERS_MAIN_PRIVATE_KEY_FILE": path]) == [])
        #expect(try faults(text, ["PROVIDERS_MAIN_PRIVATE_KEY": key]) == [])
    }

    @Test func `a password may have blanks inside, and no line ends`() throws {
        let text = ExampleFiles.smallest.replacing(
            "{ name: main, kind: log }",
            with: "{ name: main, kind: smtp, host: h.example, from: a@b.example, username: u }"
        )
        let environment = ExampleFiles.keys.merging(["PROVIDERS_MAIN_PASSWORD": " abcd efgh "]) { _, new in new }
        guard
            let smtp = try folder.load(text, environment: environment).get().providers.first?.configuration
                as? SMTPConfiguration
        else {
            throw Missing()
        }
        #expect(smtp.server.login?.password == "abcd efgh")
        let path = try folder.write("abcd\nefgh", to: "password")
        let faults = try faults(text, ["PROVIDERS_MAIN_PASSWORD_FILE": path])
        #expect(faults.count == 1 && faults[0].contains("has no line ends inside it; password has such"), "\(faults)")
    }

    static let levels: [(String, Logger.Level)] = [
        ("INFO", .info), ("Info", .info), ("warn", .warning), ("WARN", .warning), ("Warning", .warning),
        ("ERR", .error),
        ("Error", .error), ("fatal", .critical), ("CRIT", .critical), ("DEBUG", .debug), ("Trace", .trace),
        (" info\r\n", .info), ("Notice", .notice),
    ]

    @Test(arguments: levels)
    func `a level is known in any case and by its usual other names`(word: String, level: Logger.Level) throws {
        let environment = ExampleFiles.keys.merging(["LOG_LEVEL": word, "LOG_FORMAT": "JSON"]) { _, new in new }
        let log = try folder.load(ExampleFiles.smallest, environment: environment).get().log
        #expect(log.level == level)
        #expect(log.format == .json)
    }

    @Test(arguments: ["a:1, b:2", "a:1 ,b:2", " a:1 , b:2 ", "a:1,\n  b:2\n", "a:1,\tb:2\r\n"])
    func `brokers may have blanks around their commas`(servers: String) throws {
        let environment = ExampleFiles.keys.merging(["KAFKA_BOOTSTRAP_SERVERS": servers]) { _, new in new }
        let configuration = try folder.load(ExampleFiles.smallest, environment: environment).get()
        #expect(configuration.kafka.bootstrapServers == "a:1,b:2")
    }

    @Test func `an option of Kafka has its value without what stands around it`() throws {
        _ = try folder.write("\u{feff}pass word\r\n\r\n", to: "password")
        let options = "sasl.passwordFile: password, sasl.username: \" me\\r\\n\""
        let text = "kafka: { options: { \(options) } }\n\(ExampleFiles.smallest)"
        let kafka = try folder.load(text, environment: ExampleFiles.keys).get().kafka
        #expect(kafka.options.mapValues(\.revealed) == ["sasl.password": "pass word", "sasl.username": "me"])
    }

    @Test func `a file may begin with a byte order mark and end its lines as Windows does`() throws {
        let windows = "\u{feff}" + ExampleFiles.smallest.replacing("\n", with: "\r\n")
        #expect(try folder.faults(windows).isEmpty)
        let policy = try folder.write("\u{feff}" + ExampleFiles.policy.replacing("\n", with: "\r\n"), to: "policy.yaml")
        #expect(try PolicyFile.load(path: policy).get().tenants["default"] != nil)
    }

    @Test func `a file in UTF-16 is named as such`() throws {
        let path = "\(folder.path)/wide.yaml"
        try Data([0xff, 0xfe] + "policy".utf8.flatMap { [$0, 0] }).write(to: URL(filePath: path))
        guard case .failure(let faults) = CourierConfiguration.load(path: path, environment: [:]) else {
            Issue.record("loaded a file in UTF-16")
            return
        }
        #expect(faults.description == "\(path): is UTF-16; save it as UTF-8, as with PowerShell's -Encoding utf8")
    }
}
