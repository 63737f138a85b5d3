// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import SettingsReading
import TestTools
import Testing

@testable import CodeCourier

@Suite("Faults of the configuration")
struct ConfigurationFaultTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    /// Pairs of a fragment to put before the smallest configuration, and the start of its only fault line.
    static let fragments: [(String, String)] = [
        (
            "kafka: { bootstrapServer: \"h:1\" }",
            "1: kafka.bootstrapServer: is not a known key; did you mean bootstrapServers?"
        ),
        ("kafka: { colour: red }", "1: kafka.colour: is not a known key; known here: bootstrapServers, groupId"),
        ("kafak: { groupId: g }", "1: kafak: is not a known key; did you mean kafka?"),
        ("kafka: { bootstrapServers: \"h:0\" }", "1: kafka.bootstrapServers: must be host:port"),
        ("kafka: { bootstrapServers: \"h:1,,i:2\" }", "1: kafka.bootstrapServers: must be host:port"),
        ("kafka: { bootstrapServers: \"[::1\" }", "1: kafka.bootstrapServers: must be host:port"),
        ("kafka: { bootstrapServers: \"[]:9092\" }", "1: kafka.bootstrapServers: must be host:port"),
        ("kafka: { bootstrapServers: \"[::1]9092\" }", "1: kafka.bootstrapServers: must be host:port"),
        ("kafka: { bootstrapServers: \"[::1]:0\" }", "1: kafka.bootstrapServers: must be host:port"),
        ("kafka: { bootstrapServers: \"[::1]:65536\" }", "1: kafka.bootstrapServers: must be host:port"),
        ("kafka: { bootstrapServers: [h] }", "1: kafka.bootstrapServers: must be a single value"),
        ("kafka: { groupId: }", "1: kafka.groupId: must not be empty"),
        ("kafka: h", "1: kafka: must be a mapping"),
        ("kafka: { topics: { requests: \"a b\" } }", "1: kafka.topics.requests: must be 1 to 249 letters"),
        (
            "kafka: { topics: { requests: a, deliveries: a } }",
            "1: kafka.topics.deliveries: is the topic of another key too"
        ),
        ("kafka: { options: { group.id: g } }", "1: kafka.options.group.id: cannot be set here: use kafka.groupId"),
        (
            "kafka: { options: { message.timeout.ms: 120000 } }",
            "1: kafka.options.message.timeout.ms: cannot be set here: code-courier tries for 30 s"
        ),
        (
            "kafka: { options: { client.id: c } }",
            "1: kafka.options.client.id: cannot be set here: code-courier sets it; remove it"
        ),
        ("kafka: { options: { sasl: { password: p } } }", "1: kafka.options.sasl: must be a single value"),
        ("kafka: { options: { sasl.password: a,secret } }", "1: kafka.options: has an option without a value"),
        ("kafka: { options: { Acks: all } }", "1: kafka.options: the name of an option must be librdkafka's own"),
        ("kafka:\n  groupId: a\n  groupId: b", "2: groupId: is given more than once"),
        ("worker: { cell: 256 }", "1: worker.cell: must be a whole number from 0 to 255"),
        ("worker: { cell: -1 }", "1: worker.cell: must be a whole number from 0 to 255"),
        ("worker: { batchSize: 0 }", "1: worker.batchSize: must be a whole number from 1 to 10000"),
        ("worker: { maxInFlight: many }", "1: worker.maxInFlight: must be a whole number from 1 to 100000"),
        ("worker: { maxInFlight: 99999999999999999999 }", "1: worker.maxInFlight: must be a whole number"),
        (
            "worker: { maxRequestAge: 60 }",
            "1: worker.maxRequestAge: must be a duration such as 500ms, 60s, 5m or 1h, from 1s to 24h"
        ),
        ("worker: { drainTimeout: -1s }", "1: worker.drainTimeout: must be a duration"),
        ("worker: { unknownOutcome: resend }", "1: worker.unknownOutcome: must be one of hold, resend_once"),
        (
            "worker: { lease: 10s, callDeadline: 8s }",
            "1: worker.lease: leaves too little time; the lease must be 2.5 call deadlines"
        ),
        ("log: { level: loud }", "1: log.level: must be one of trace, debug, info, notice, warning, error, critical"),
        ("\n\nlog:\n  format: xml", "4: log.format: must be one of json, otel, text"),
        (
            "log: { statsInterval: 10 }",
            "1: log.statsInterval: must be a duration such as 500ms, 60s, 5m or 1h, from 1s to 1h"
        ),
        ("keys: { code: x }\nlog: { level }", "2: log.level: must not be empty"),
        ("kafka: { bootstrapServers: \"${KAFKA}:9092\" }", "1: kafka.bootstrapServers: has a ${…} or $(…) in it"),
        ("kafka: { bootstrapServers: \"{{ .Values.kafka }}:9092\" }", "1: kafka.bootstrapServers: has a ${…} or $(…)"),
        ("kafka: { groupId: \"$(GROUP)\" }", "1: kafka.groupId: has a ${…} or $(…) in it"),
        ("? [a]\n: b", "1: has a key that is no text"),
    ]

    @Test(arguments: fragments)
    func `a fault is one line with file, line, key and fix`(fragment: String, expected: String) throws {
        let faults = try folder.faults("\(fragment)\n\(ExampleFiles.smallest)")
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix("courier.yaml:\(expected)") == true, "\(faults)")
    }

    @Test(arguments: KafkaConfiguration.refusedOptions.sorted())
    func `an option that a client refuses is refused where it stands`(option: String) throws {
        let faults = try folder.faults("kafka: { options: { \(option): x } }\n\(ExampleFiles.smallest)")
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix("courier.yaml:1: kafka.options.\(option): cannot be set here: ") == true)
    }

    @Test(arguments: [
        ("session.timeout.ms", "10s"), ("session.timeout.ms", "1e4"), ("session.timeout.ms", "10_000"),
        ("fetch.wait.max.ms", "5 0"), ("linger.ms", "0.5.1"), ("request.timeout.ms", "0x10"),
        ("message.max.bytes", "1000000B"), ("queue.buffering.max.messages", "1,000"), ("retries", "3 times"),
    ])
    func `an option's number is taken whole or not at all`(option: String, value: String) throws {
        let faults = try folder.faults("kafka: { options: { \(option): \"\(value)\" } }\n\(ExampleFiles.smallest)")
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix("courier.yaml:1: kafka.options.\(option): ") == true, "\(faults)")
        #expect(faults.first?.contains(value) == false)
    }

    @Test(arguments: [
        ("session.timeout.ms", "10000"), ("socket.keepalive.enable", "true"), ("socket.keepalive.enable", "1"),
        ("security.protocol", "SASL_SSL"), ("compression.type", "zstd"), ("sasl.username", "007"),
        ("sasl.password", "1s"),
        ("log_level", "6"), ("linger.ms", "0.5"), ("linger.ms", "5"),
    ])
    func `an option's value that librdkafka takes whole is no fault`(option: String, value: String) throws {
        #expect(try folder.faults("kafka: { options: { \(option): \"\(value)\" } }\n\(ExampleFiles.smallest)").isEmpty)
    }

    @Test(arguments: ["[::1]", "[::1]:9092", "a:1,[fe80::1]:65535", "broker"])
    func `a broker may have a name or an address of either family`(servers: String) throws {
        let text = "kafka: { bootstrapServers: \"\(servers)\" }\n\(ExampleFiles.smallest)"
        #expect(try folder.load(text).get().kafka.bootstrapServers == servers)
    }

    @Test func `rows are kept for a day at least`() throws {
        let file = ExampleFiles.smallest.replacing("/courier\" }", with: "/courier\", retention: 1h }")
        let fault = "1: postgres.retention: must be a duration such as 500ms, 60s, 5m or 1h, from 24h to 8760h"
        #expect(try folder.faults(file) == ["courier.yaml:\(fault)"])
    }

    /// Pairs of a list of providers, and the start of its only fault line.
    static let providers: [(String, String)] = [
        ("[]", " providers: is required"),
        ("{ name: a }", "1: providers: must be a list of providers"),
        ("[{ kind: log }]", "1: providers[0].name: is required"),
        ("[{ name: a }]", "1: providers[0].kind: is required"),
        ("[{ name: a, kind: pigeon }]", "1: providers[0].kind: must be twilio, vonage, sns, http, smtp, apns or log"),
        (
            "[{ name: a, kind: smpp, host: h }]",
            "1: providers[0].kind: must be twilio, vonage, sns, http, smtp, apns or log; did"
        ),
        (
            "[{ name: a, kind: vonage, apiKey: k, apiSecret: s, from: \"${SENDER}\" }]",
            "1: providers[0].from: has a ${…} or $(…) in it"
        ),
        (
            "[{ name: a, kind: smtp, host: h, from: a@b.de, username: u, password: \"${PASSWORD}\" }]",
            "1: providers[0].password: has a ${…} or $(…) in it"
        ),
        ("[{ name: \"a b\", kind: log }]", "1: providers[0].name: must be 1 to 64 letters"),
        (
            "[{ name: main, kind: log }, { name: main, kind: log }]",
            "1: providers[1].name: is the name of an earlier provider too; rename one"
        ),
        (
            "[{ name: a-b, kind: log }, { name: A.B, kind: log }]",
            "1: providers[1]: shares an environment variable with an earlier provider"
        ),
        (
            "[{ name: mainUS, kind: twilio, accountSid: s, authToken: t, from: f }, { name: main_US, kind: log }]",
            "1: providers[1]: shares an environment variable with an earlier provider"
        ),
        (
            #"""
            [{ name: v, kind: vonage, apiKey: k, apiSecret: s, from: f }, { name: v_api, kind: http, secret: s, \#
            url: "https://a.de", body: '{"to":"{to}","text":"{text}","key":"{secret}"}', messageId: id }]
            """#,
            "1: providers[1]: shares an environment variable with an earlier provider"
        ),
        ("[{ name: a, kind: log, authToken: secret }]", "1: providers[0].authToken: is not a known key"),
        ("[{ name: a, kind: twilio, authToken: t, from: f }]", "1: providers.a.accountSid: is required"),
        ("[{ name: a, kind: twilio, accountSid: s, from: f }]", "1: providers.a.authToken: is required"),
        (
            "[{ name: a, kind: twilio, accountSid: s, authToken: t }]",
            "1: providers[0]: needs from or messagingServiceSid"
        ),
        (
            "[{ name: a, kind: twilio, accountSid: s, authToken: t, from: f, messagingServiceSid: m }]",
            "1: providers[0].messagingServiceSid: stands beside from"
        ),
        (
            "[{ name: a, kind: twilio, accountSid: s, authToken: t, from: f, baseURL: \"ftp://h\" }]",
            "1: providers[0].baseURL: must be an address"
        ),
        (
            "[{ name: a, kind: twilio, accountSid: s, authToken: t, from: f, statusCallback: \"https://u:secret@h\" }]",
            "1: providers[0].statusCallback: must be an address"
        ),
        (
            "[{ name: a, kind: twilio, accountSid: s, authToken:secret, from: f }]",
            "1: providers[0]: has an unknown key without a value"
        ),
    ]

    @Test(arguments: providers)
    func `a wrong provider is one line`(list: String, expected: String) throws {
        let text = "providers: \(list)\npostgres: { url: \"postgresql:///d\" }\npolicy: { path: p }"
        var faults = try folder.faults(text)
        if list.contains("authToken:secret") { faults.removeAll { $0.contains("authToken: is required") } }
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix("courier.yaml:\(expected)") == true, "\(faults)")
    }

    /// Values of `keys.code` with an invalid form.
    static let rings = [
        "", "1", "1:", ":AAAA", "0:\(base64(32))", "-1:\(base64(32))", "32768:\(base64(32))", "x:\(base64(32))",
        "1:\(base64(31))", "1:%%%", "1:\(base64(32)),", "1:\(base64(32)),2", "1:\(base64(32)),1:\(base64(33))",
        "1 :\(base64(32))", "1:\(base64(32)) x",
    ]

    static func base64(_ count: Int) -> String {
        String(ExampleFiles.ring(1, filledWith: 77, count: count).dropFirst(2))
    }

    @Test(arguments: rings)
    func `a wrong ring is a fault that holds none of it`(ring: String) throws {
        let text = "keys: { code: \"\(ring)\" }\n\(ExampleFiles.smallest)"
        let faults = try folder.faults(text, environment: ExampleFiles.keys.filter { $0.key != "KEYS_CODE" })
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix("courier.yaml:1: keys.code: ") == true, "\(faults)")
        #expect(faults.first?.contains("TU1N") == false)
    }

    @Test func `the seal takes keys of 32 bytes only`() throws {
        var environment = ExampleFiles.keys
        environment["KEYS_SEAL"] = ExampleFiles.ring(1, filledWith: 4, count: 64)
        let faults = try folder.faults(ExampleFiles.smallest, environment: environment)
        #expect(faults.first?.hasPrefix("environment KEYS_SEAL: keys.seal: must be id:base64") == true)
        #expect(faults.first?.contains("exactly 32 bytes") == true)
    }

    /// The other rings, each with the byte that `ExampleFiles.keys` fills its key with; the codes' key has 1.
    @Test(arguments: [("hash", 2), ("fingerprint", 3), ("seal", 4)] as [(String, UInt8)])
    func `no ring shares a key with that of codes`(name: String, byte: UInt8) throws {
        let variable = "KEYS_\(name.uppercased())"
        var environment = ExampleFiles.keys
        environment[variable] = "\(ExampleFiles.ring(1, filledWith: byte)),\(ExampleFiles.ring(2, filledWith: 1))"
        let faults = try folder.faults(ExampleFiles.smallest, environment: environment)
        let message = "shares a key with keys.code; make a key of its own"
        #expect(faults == ["environment \(variable): keys.\(name): \(message)"])
    }

    @Test(arguments: [
        "mysql://h/d", "host=h dbname=d", "postgresql://", "postgresql://h/a b", "postgresql://h/d?sslmod=require",
        "postgresql://u:p@ss@h/d", "postgresql://u:p/ss@h/d", "postgresql://u:p@s/s@h:5432/d?sslmode=require",
        "postgresql://u:%zz@h/d",
    ])
    func `an address of another database is a fault without it`(url: String) throws {
        let text = ExampleFiles.smallest.replacing(
            "postgresql://courier_worker:pw-in-file@127.0.0.1/courier",
            with: url
        )
        let faults = try folder.faults(text)
        let message = """
            must be a libpq URI such as postgresql://courier_worker@127.0.0.1/courier, with libpq's parameters, and with \
            @ : / % in its password percent-encoded: written as %40 %3A %2F %25
            """
        #expect(faults == ["courier.yaml:1: postgres.url: \(message)"])
    }

    @Test(arguments: [
        ("security.protocl: SASL_SSL", "is none of librdkafka's options"),
        (
            "ssl.truststore.location: /etc/hidden.jks",
            "is a property of Java's client: use ssl.ca.location, a file of certificates in PEM"
        ),
        ("sasl.jaas.config: hidden", "is a property of Java's client: use sasl.username and sasl.password"),
        ("max.poll.records: 10", "is a property of Java's client: use worker.batchSize"),
        ("ssl.ca.location: /nowhere/hidden.crt", "must name a readable file; it does not exist"),
        ("ssl.key.location: /tmp", "must name a readable file; it is a folder"),
        ("sasl.password: \"${KAFKA_PASSWORD}\"", StatedValue.placeholderFault),
        ("session.timeout.ms: soon", "is an option that librdkafka does not take this value for"),
    ])
    func `an option that librdkafka does not take is a fault, and its value is not quoted`(
        option: String,
        message: String
    ) throws {
        let faults = try folder.faults(ExampleFiles.smallest + "\nkafka: { options: { \(option) } }\n")
        let name = option.prefix { $0 != ":" }
        #expect(faults.count == 1 && faults.first?.hasSuffix("kafka.options.\(name): \(message)") == true, "\(faults)")
    }

    @Test func `all that is missing comes out at once`() throws {
        let faults = try folder.faults("kafka: { groupId: g }", environment: [:])
        let keys = [
            "postgres.url", "policy.path", "keys.code", "keys.hash", "keys.fingerprint", "keys.seal", "providers",
        ]
        for key in keys {
            #expect(faults.contains { $0.hasPrefix("courier.yaml: \(key): is required") })
        }
        #expect(faults.count == keys.count)
        #expect(faults.first?.hasSuffix("or set POSTGRES_URL") == true)
    }

    @Test(arguments: [
        ("", "courier.yaml: is empty"), ("# nothing\n", "courier.yaml: is empty"), ("---\n", "courier.yaml: is empty"),
        ("just text", "courier.yaml:1: must be a mapping of keys to values"),
        ("a: [1, 2\n\n", "courier.yaml:3: is not YAML: while parsing a flow sequence that begins in line 1, "),
        ("\n\ta: b", "courier.yaml:2: is not YAML: "),
        ("a: b\n---\nc: d", "courier.yaml:2: is not YAML: "), ("a: \u{1}", "courier.yaml:1: is not YAML: "),
        ("kafka: *missing", "courier.yaml:1: is not YAML: "),
    ])
    func `a file that is no configuration is one fault`(text: String, expected: String) throws {
        let faults = try folder.faults(text)
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix(expected) == true, "\(faults)")
    }

    @Test(arguments: [
        ("policy:\n\tpath: a", 2, "a tab indents this line: use spaces"),
        ("a: b\n\u{feff}c: d", 2, "a byte order mark begins this line, as when files are joined: remove it"),
        ("log:\n  level: @x", 2, "a value cannot begin with @, ` or %: quote it"),
        ("kafka: *missing", 1, "quote a value that begins with *"),
        ("log: x: y", 1, "and the colon after the key above"),
        ("log:\n  level: info\n format: text", 3, "check this line's indentation and the quotes above it"),
        ("log:\n  level: \"info", 2, "a quotation mark is not closed"),
        ("log: { level: info\nkafka: {}", 2, "a comma or a closing bracket is missing before this line or in it"),
        ("log: { level: \"\\q\" }", 1, "write \\\\ for a backslash, or use single quotes"),
        ("log: {}\n---\nkafka: {}", 2, "a file is one document: remove the line ---"),
    ])
    func `a file that is not YAML is told with its line and the fix`(text: String, line: Int, fix: String) throws {
        let faults = try folder.faults(text)
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix("courier.yaml:\(line): is not YAML: ") == true, "\(faults)")
        #expect(faults.first?.hasSuffix("; \(fix)") == true || faults.first?.hasSuffix(" \(fix)") == true, "\(faults)")
    }

    @Test func `a file that is not there is one fault`() {
        guard case .failure(let faults) = CourierConfiguration.load(path: "/nowhere/courier.yaml", environment: [:])
        else {
            Issue.record("loaded a file that is not there")
            return
        }
        #expect(faults.description == "/nowhere/courier.yaml: cannot be read: there is no such file")
    }

    @Test func `no fault holds a secret, wherever it slipped to`() throws {
        let secret = "s3cr3tValue"
        let places = [
            "kafka: { options: { sasl.password: [\(secret)] } }", "postgres: { url: \(secret) }",
            "keys: { code: \(secret), hash: \"1:\(secret)\" }", "keys: { code: 1:A,\(secret)=,2:\(secret) }",
            "providers: [{ name: a, kind: twilio, authToken: { x: \(secret) } }]", "keys: { code: \"\(secret) }",
            "providers: [{ name: a, kind: twilio, authToken:\(secret) }]", "worker: { batchSize: \(secret) }",
            "providers: [{ name: a, kind: \(secret) }]", "policy:\n  path: a\n \(secret)",
            "keys: { codeFile: \(secret) }",
            "kafka: { options: { sasl.password: a,\(secret) } }", "postgres: { url: [\(secret)] }",
        ]
        for text in places {
            let faults = try folder.faults(text, environment: ["KEYS_SEAL": secret, "POSTGRES_URL_FILE": secret])
            #expect(!faults.isEmpty)
            #expect(!faults.joined().contains(secret), "\(text)")
        }
    }
}
