// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Foundation
import FoundationNetworking
import KafkaClient
import Sandbox
import TestSupport
import TestTools
import Testing

extension CommandLineSuite {
    /// Runs the programs of `examples` as a reader would.
    @Suite struct Examples {
        @Test func `the gateway in Python asks, and the verifier in Python approves the code once`() async throws {
            try await TestFleet.with { fleet in
                _ = try await fleet.startWorker()
                let number = Numbers.one()
                fleet.watch([number])
                let asking =
                    fleet.exampleTopics + [
                        "--phone", number, "--request-id", "from-python", "--subject", "ada",
                    ]
                let gateway = try await fleet.python("gateway.py", asking)
                #expect(gateway.output.contains(#""status": "sent""#), "\(gateway.output)\(gateway.errors)")
                #expect(gateway.output.contains(#""requestId": "from-python""#))
                let event = try await fleet.event(of: TestRequest(id: "from-python", phoneNumber: number))
                let code = try #require(fleet.messages[number]?.first?.code)
                let verification = try #require(event.body.verificationId)

                let ring = try fleet.folder.write(TestKeys.hash + "\n", to: "hash-keys")
                let options = ["--database", fleet.logins.verifierURL, "--hash-keys", ring, "check"]
                let typo = try await fleet.python("verifier.py", options + [verification, "12345O"], expecting: 1)
                #expect(typo.output.contains(#"{"status": "not_a_code"}"#), "\(typo.errors)")
                let miss = code == "000000" ? "000001" : "000000"
                let wrong = try await fleet.python("verifier.py", options + [verification, miss], expecting: 1)
                #expect(wrong.output.contains(#"{"status": "incorrect", "checksLeft": 4}"#), "\(wrong.errors)")
                let other = options + [verification, miss, "--subject", "eve"]
                let refused = try await fleet.python("verifier.py", other, expecting: 1)
                #expect(refused.output.contains(#"{"status": "other_subject"}"#), "\(refused.errors)")
                let own = options + [verification, "G-\(code.prefix(3))\u{a0}\(code.suffix(3)).", "--subject", "ada"]
                let right = try await fleet.python("verifier.py", own)
                let approval = #"{"status": "approved", "checksLeft": 2, "subject": "ada"}"#
                #expect(right.output.contains(approval), "\(right.errors)")
                let again = try await fleet.python("verifier.py", options + [verification, code], expecting: 1)
                #expect(again.output.contains(#"{"status": "already_approved","#), "\(again.errors)")
                let nobody = "0193a5b0-1c40-7b11-9d22-33e44f556a66"
                let unknown = try await fleet.python("verifier.py", options + [nobody, code], expecting: 1)
                #expect(unknown.output.contains(#"{"status": "not_found"}"#), "\(unknown.errors)")
            }
        }

        @Test func `the gateway over HTTP answers each who waits, others later, and tells no reason`() async throws {
            try await TestFleet.with { fleet in
                let patient = try await ExampleServer("gateway.py", fleet.exampleServing + ["--wait", "100"], fleet)
                defer { patient.end() }
                let hasty = try await ExampleServer("gateway.py", fleet.exampleServing + ["--wait", "0.1"], fleet)
                defer { hasty.end() }
                let number = Numbers.one()
                fleet.watch([number])
                // No worker has started.
                let early = try await hasty.post("codes", ["phone": number, "requestId": UUID().uuidString])
                #expect(early.status == 202)
                let id = try #require(early.fields["requestId"] as? String)

                let waiting = ["phone": Numbers.one(), "requestId": UUID().uuidString]
                fleet.watch([try #require(waiting["phone"])])
                async let first = patient.post("codes", waiting)
                async let second = patient.post("codes", waiting)
                _ = try await fleet.startWorker()
                let both = try await [first, second]
                #expect(both.map(\.status) == [200, 200])
                #expect(both.allSatisfy { ($0.fields["code"] as? [String: Int])?["length"] == 6 })

                let late = try await eventually("the first is answered") {
                    let answer = try await hasty.get("codes/\(id)")
                    return answer.status == 202 ? nil : answer
                }
                #expect(late.status == 200 && late.fields["resendAfter"] is String)
                // Another instance learns the answer by a repeat, and a second press is suppressed.
                let elsewhere = try await patient.post("codes", ["phone": number, "requestId": id])
                #expect(elsewhere.status == 200 && elsewhere.fields["requestId"] as? String == id)
                #expect(try await patient.post("codes", ["phone": number]).status == 200)
                #expect(fleet.messages[number]?.count == 1)

                let refused = try await patient.post("codes", ["phone": "+33612345678"])
                #expect(refused.status == 422 && Set(refused.fields.keys) == ["requestId"])
                for nonsense in [[:], ["phone": number, "requestId": "7"]] {
                    #expect(try await patient.post("codes", nonsense).status == 400)
                }
            }
        }

        @Test(.timeLimit(.minutes(3)))
        func `the landing page checks its link when its reader presses the button, for the right address`() async throws
        {
            try await TestFleet.with(policy: TestPolicy.withLinks) { fleet in
                try await fleet.addMailer()
                _ = try await fleet.startWorker()
                let ring = try fleet.folder.write(TestKeys.hash + "\n", to: "hash-keys")
                let fingerprints = try fleet.folder.write(TestKeys.fingerprint + "\n", to: "fingerprint-keys")
                let options = ["--database", fleet.logins.verifierURL, "--hash-keys", ring]
                let verifier = try await ExampleServer(
                    "verifier.py",
                    options + ["--fingerprint-keys", fingerprints, "serve", "127.0.0.1:0"],
                    fleet
                )
                defer { verifier.end() }
                let page = "http://localhost:\(verifier.port)"
                try await fleet.send([.link(id: "by-link", address: "ada@example.com", to: "\(page)/finish")])
                let event = try #require(try await fleet.events(of: ["by-link"]).first)
                #expect(event.answer == Answer("sent"))
                let link = try #require(await fleet.sandbox.emails(to: "ada@example.com").first?.links.first)
                #expect(link.hasPrefix("\(page)/__/auth/links?"))

                try await Browser.with(page: link) { browser in
                    let submit = { (address: String) in
                        "document.forms[0].email.value = '\(address)', document.forms[0].requestSubmit()"
                    }
                    try await eventually("the page is there") {
                        try await browser.holds("document.title === 'Sign in'")
                    }
                    try await browser.perform(submit("eve@example.com"))
                    try await eventually("another address is refused") {
                        try await browser.holds("document.querySelector('p').textContent.startsWith('Another address')")
                    }
                    try await browser.perform(submit("ada@EXAMPLE.com"))
                    try await eventually("the browser goes on to continueUrl") {
                        try await browser.holds("location.href === '\(page)/finish'")
                    }
                }
                let token = try #require(URLComponents(string: link)?.queryItems?.first { $0.name == "oobCode" }?.value)
                let guess = ["code": token, "tenant": "default", "purpose": "sign_in", "email": "ada@example.com"]
                let verification = ["verificationId": try #require(event.body.verificationId)]
                let again = try await verifier.post("verify", guess.merging(verification) { $1 })
                #expect(again.fields["status"] as? String == "already_approved")
            }
        }
    }
}

extension KafkaFeatures {
    /// Runs the examples in Java, which need the client library of an Apache Kafka.
    @Suite struct JavaExamples {
        @Test func `the gateway in Java asks with nulls, and the verifier in Java approves the code once`() async throws
        {
            try await TestFleet.with { fleet in
                let java = try await JavaExample(fleet)
                let vectors = Repository.file("schemas/test-vectors.json").path
                let compared = try await java.run("Verifier", ["--vectors", vectors])
                #expect(compared.output.hasPrefix("Verifier: hashes, fingerprints and typed codes are"))

                _ = try await fleet.startWorker()
                let number = Numbers.one()
                fleet.watch([number])
                let asking = ["--phone", number, "--request-id", "from-java", "--subject", "ada"]
                let gateway = try await java.run("Gateway", fleet.exampleTopics + asking)
                #expect(gateway.output.contains(#""status":"sent""#), "\(gateway.output)")
                let event = try await fleet.event(of: TestRequest(id: "from-java", phoneNumber: number))
                let code = try #require(fleet.messages[number]?.first?.code)

                let ring = try fleet.folder.write(TestKeys.hash + "\n", to: "hash-keys")
                let options = [
                    "--database", try JavaExample.database(fleet.logins.verifierURL), "--hash-keys", ring,
                    "--verification", try #require(event.body.verificationId),
                ]
                let miss = code == "000000" ? "000001" : "000000"
                let wrong = try await java.run("Verifier", options + ["--code", miss], expecting: 1)
                #expect(wrong.output == #"{"status":"incorrect","checksLeft":4,"subject":null}"# + "\n")
                let other = try await java.run(
                    "Verifier",
                    options + ["--code", miss, "--subject", "eve"],
                    expecting: 1
                )
                #expect(other.output.hasPrefix(#"{"status":"other_subject","#))
                let right = try await java.run("Verifier", options + ["--code", "G-\(code)", "--digits", "6"])
                #expect(right.output == #"{"status":"approved","checksLeft":2,"subject":"ada"}"# + "\n")
                let again = try await java.run("Verifier", options + ["--code", code], expecting: 1)
                #expect(again.output.hasPrefix(#"{"status":"already_approved","#))
            }
        }

        @Test func `the verifier in Java approves the code of an e-mail for its address alone`() async throws {
            try await TestFleet.with(policy: TestPolicy.withLinks) { fleet in
                let java = try await JavaExample(fleet)
                try await fleet.addMailer()
                _ = try await fleet.startWorker()
                try await fleet.send([.link(id: "by-mail", address: "ada@example.com", to: "http://localhost/finish")])
                let event = try #require(try await fleet.events(of: ["by-mail"]).first)
                let ring = try fleet.folder.write(TestKeys.hash + "\n", to: "hash-keys")
                let options = [
                    "--database", try JavaExample.database(fleet.logins.verifierURL), "--hash-keys", ring,
                    "--verification", try #require(event.body.verificationId),
                    "--code", try #require(await fleet.sandbox.emails(to: "ada@example.com").first?.code),
                    "--fingerprint-keys", try fleet.folder.write(TestKeys.fingerprint + "\n", to: "fingerprint-keys"),
                ]
                let eve = try await java.run("Verifier", options + ["--email", "eve@example.com"], expecting: 1)
                #expect(eve.output.hasPrefix(#"{"status":"incorrect","#))
                let ada = try await java.run("Verifier", options + ["--email", "ada@Example.com"])
                #expect(ada.output.hasPrefix(#"{"status":"approved","#))
            }
        }
    }
}

/// The examples in Java, compiled.
private struct JavaExample {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let fleet: TestFleet
    private let classPath: String

    init(_ fleet: TestFleet) async throws {
        let variables = ProcessInfo.processInfo.environment
        guard let kafka = variables["KAFKA_HOME"] else {
            throw Failure(description: "there is no Apache Kafka: run `make test-kafka`")
        }
        let driver = "/usr/share/java/postgresql.jar"
        let folders = (variables["PATH"] ?? "").split(separator: ":")
        let compiler = folders.map { "\($0)/javac" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let compiler, FileManager.default.fileExists(atPath: driver) else {
            throw Failure(
                description: "there is no javac, or no PostgreSQL driver \(driver): run deploy/local/install.sh tests"
            )
        }
        self.fleet = fleet
        classPath = "\(fleet.folder.path):\(driver):\(kafka)/libs/*"
        let sources = ["Gateway", "Verifier"].map { Repository.file("examples/\($0).java").path }
        let compiling = try Program(
            ["-Xlint:all", "-Werror", "-d", fleet.folder.path, "-cp", classPath] + sources,
            executable: compiler,
            folder: fleet.folder
        )
        try #require(try await compiling.exit(within: .seconds(120)) == .code(0), "\(compiling.errors)")
    }

    func run(_ name: String, _ arguments: [String], expecting code: Int32 = 0) async throws -> Program {
        let program = try Program(
            ["java", "-XX:TieredStopAtLevel=1", "-cp", classPath, name] + arguments,
            executable: "/usr/bin/env",
            folder: fleet.folder
        )
        #expect(try await program.exit(within: .seconds(60)) == .code(code), "\(name): \(program.errors)")
        return program
    }

    /// The URL of pgjdbc for a URL of libpq.
    static func database(_ url: String) throws -> String {
        let parts = try #require(URLComponents(string: url))
        let port = parts.port.map { ":\($0)" } ?? ""
        return "jdbc:postgresql://\(parts.host ?? "")\(port)\(parts.path)"
            + "?user=\(parts.user ?? "")&password=\(parts.password ?? "")"
    }
}

/// An example that serves HTTP, on a port of its own.
private struct ExampleServer {
    struct Answer: Sendable {
        let status: Int
        let body: Data

        var fields: [String: Any] { (try? JSONSerialization.jsonObject(with: body) as? [String: Any]) ?? [:] }
    }

    let port: Int
    private let program: Program

    init(_ script: String, _ arguments: [String], _ fleet: TestFleet) async throws {
        let program = try fleet.start(script, arguments)
        self.program = program
        port = try await eventually("\(script) serves") {
            try #require(program.isRunning, "\(program.errors)")
            return program.output.firstMatch(of: /http:[^ ]*:([0-9]+)\n/).flatMap { Int($0.1) }
        }
    }

    func end() { program.send(SIGKILL) }

    func get(_ path: String) async throws -> Answer { try await answer(request(path)) }

    func post(_ path: String, _ fields: [String: String]) async throws -> Answer {
        var request = try request(path)
        request.httpMethod = "POST"
        request.httpBody = try JSONSerialization.data(withJSONObject: fields)
        return try await answer(request)
    }

    private func request(_ path: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/\(path)")), timeoutInterval: 120)
    }

    private func answer(_ request: URLRequest) async throws -> Answer {
        let (data, response) = try await URLSession.shared.data(for: request)
        return Answer(status: try #require(response as? HTTPURLResponse).statusCode, body: data)
    }
}

extension TestFleet {
    /// The options of a gateway for the fleet's Kafka.
    fileprivate var exampleTopics: [String] {
        [
            "--brokers", cluster.configuration.bootstrapServers, "--topic", topics.requests,
            "--events", topics.deliveries,
        ]
    }

    fileprivate var exampleServing: [String] { exampleTopics + ["--serve", "127.0.0.1:0"] }

    fileprivate func start(_ script: String, _ arguments: [String]) throws -> Program {
        try Program(
            [Repository.file("examples/\(script)").path] + arguments,
            executable: Repository.file(".local/python/bin/python").path,
            folder: folder
        )
    }

    /// Runs an example to its end.
    fileprivate func python(
        _ script: String,
        _ arguments: [String],
        expecting code: Int32 = 0
    ) async throws -> Program {
        let program = try start(script, arguments)
        #expect(try await program.exit() == .code(code), "\(script): \(program.errors)")
        return program
    }

    /// Adds the sandbox's mail server for workers that start later.
    fileprivate func addMailer() async throws {
        let port = try await sandbox.waitUntilListeningForMail().port
        let mailer = "{ name: mailer, kind: smtp, host: 127.0.0.1, port: \(port), tls: none, from: a@example.com }"
        try configure("providers:\n", "providers:\n  - \(mailer)\n")
    }
}

extension TestPolicy {
    fileprivate static let withLinks = standard.replacingOccurrences(
        of: "routes: { default: [main] }",
        with: "emailLinks: { authorizedDomains: [localhost] }\n    routes: { default: [main], email: [mailer] }"
    )
}

extension TestRecord {
    fileprivate static func link(id: String, address: String, to url: String) -> TestRecord {
        let json = """
            {"requestId":"\(id)","channel":"email","purpose":"sign_in","recipient":{"email":"\(address)"},\
            "actionCode":{"url":"\(url)","handleCodeInApp":true}}
            """
        return TestRecord(key: address, value: Array(json.utf8))
    }
}
