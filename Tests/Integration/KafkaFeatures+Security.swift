// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Foundation
import KafkaClient
import TestSupport
import TestTools
import Testing

extension KafkaFeatures {
    /// Tests TLS with a password, and access rights that are granted one by one.
    @Suite struct Security {
        /// Librdkafka before 2.6.1 fails even with the right password, and the worker warns about it first.
        @Test func `SCRAM over TLS takes the right password, from a library that has it for Kafka 4`() async throws {
            try await TestFleet.with(partitions: 1) { fleet in
                let kafka = try ApacheKafka(fleet)
                try await fleet.grant("code-courier", kafka)
                try await fleet.secure(by: kafka)
                if LibraryVersion.loaded < .scramWithKafka4 {
                    let worker = try await fleet.startWorker(waiting: false)
                    try await eventually("the password is refused") { worker.faults("_AUTHENTICATION") > 0 }
                    #expect(worker.logged.contains("kafka.library_old"))
                    #expect(!worker.logged.contains("kafka.assigned"))
                } else {
                    let worker = try await fleet.startWorker()
                    #expect(!worker.logged.contains("kafka.library_old"))
                    try await fleet.expectOne(of: try await fleet.sendRequests(10))
                }
            }
        }

        @Test func `a wrong password and a broker of another authority are told, without the password`() async throws {
            try await TestFleet.with(partitions: 1) { fleet in
                let kafka = try ApacheKafka(fleet)
                let stranger = try await TestAuthority(in: fleet.folder)
                let configuration = fleet.folder.text(of: TestFleet.configurationFile)
                for (options, error) in [
                    (["sasl.password": "canary-wrong"], "_AUTHENTICATION"),
                    (["sasl.password": "canary-kept", "ssl.ca.location": stranger.certificatePath], "_SSL"),
                ] {
                    try fleet.folder.write(configuration, to: TestFleet.configurationFile)
                    try await fleet.secure(by: kafka, options.merging(["sasl.mechanism": TestFleet.mechanism]) { $1 })
                    let worker = try await fleet.startWorker(waiting: false)
                    try await eventually("the worker tells \(error)") {
                        worker.faults(error) > 0
                    }
                    #expect(!worker.logged.contains("kafka.assigned"))
                    try await worker.stop()
                    #expect(!(worker.program.output + worker.program.errors).contains("canary"))
                }
            }
        }

        /// The user has exactly the rights of the commands in `docs/deployment.md`.
        @Test func `workers with the documented rights do their work, and go on when a right is given back`()
            async throws
        {
            try await TestFleet.with(partitions: 2) { fleet in
                let kafka = try ApacheKafka(fleet)
                try await fleet.secure(by: kafka, ["sasl.mechanism": TestFleet.mechanism])
                let early = try await fleet.startWorker(waiting: false)
                try await eventually("a worker without rights says so") {
                    early.faults("AUTHORIZATION_FAILED") > 0
                }
                try await fleet.grant("code-courier", kafka)
                try await early.waitForLog("kafka.assigned")
                try await early.stop()
                let worker = try await fleet.startWorker()
                try await fleet.send([TestRecord(key: "someone", value: [0])])
                var requests = try await fleet.sendRequests(10)
                try await fleet.expectOne(of: requests)
                _ = try await fleet.deadLetters(1)
                #expect(worker.faults("AUTHORIZATION_FAILED") == 0)

                let group = "\(fleet.topics.requests).group"
                for (operation, kind, name, error) in [
                    ("Read", "--topic", fleet.topics.requests, "TOPIC_AUTHORIZATION_FAILED"),
                    ("Write", "--topic", fleet.topics.deliveries, "TOPIC_AUTHORIZATION_FAILED"),
                    ("Read", "--group", group, "GROUP_AUTHORIZATION_FAILED"),
                ] {
                    let right = ["--allow-principal", "User:code-courier", "--operation", operation, kind, name]
                    let told = worker.faults(error, of: name)
                    try await kafka.tool(["kafka-acls", "--remove", "--force"] + right)
                    requests += try await fleet.sendRequests(10)
                    try await eventually("the worker says that \(operation) on \(name) is missing") {
                        worker.faults(error, of: name) > told
                    }
                    try await kafka.tool(["kafka-acls", "--add"] + right)
                    let start = ContinuousClock.now
                    _ = try await fleet.events(of: requests.map(\.id), within: .seconds(30))
                    print("\(operation) on \(kind) is back: the last event came after \(ContinuousClock.now - start)")
                }
                requests += try await fleet.sendRequests(10)
                try await fleet.expectOne(of: requests)
                try await eventually("the group commits all it was given") {
                    try await fleet.committedOffsets().values.reduce(0, +) == Int64(requests.count + 1)
                }
            }
        }

        @Test func `an operator's tools do their work with the documented rights`() async throws {
            try await TestFleet.with(partitions: 1) { fleet in
                let kafka = try ApacheKafka(fleet)
                _ = try await fleet.startWorker()
                try await fleet.send([TestRecord(key: "someone", value: [0])])
                _ = try await fleet.deadLetters(1)
                try await fleet.grant("operator", kafka)
                try await fleet.secure(by: kafka, ["sasl.mechanism": TestFleet.mechanism])
                let number = Numbers.one()
                fleet.watch([number])
                let configuration = ["--config", fleet.folder[TestFleet.configurationFile]]
                for command in [
                    ["request", "send", "--phone", number],
                    ["dead-letters", "list"],
                    ["dead-letters", "redrive", "--all"],
                ] {
                    let (program, exit) = try await fleet.command(command + configuration)
                    #expect(exit == .code(0), "\(command): \(program.output)\(program.errors)")
                }
            }
        }
    }
}

extension Worker {
    /// Number of log lines with a librdkafka error, optionally only those of one topic or group.
    fileprivate func faults(_ error: String, of name: String? = nil) -> Int {
        lines(as: Failed.self).count { line in
            line.error.contains(error) && (name == nil || [line.topic, line.group].allSatisfy { $0 ?? name == name })
        }
    }

    private struct Failed: Decodable {
        let error: String
        let topic: String?
        let group: String?
    }
}

extension TestFleet {
    /// Grants the cluster's one user the rights of `docs/deployment.md` on this fleet's topics.
    fileprivate func grant(_ user: String, _ kafka: ApacheKafka) async throws {
        let page = Repository.file("docs/deployment.md")
        let commands = try String(contentsOf: page, encoding: .utf8).replacing("\\\n", with: "").split(separator: "\n")
            .map { $0.split(separator: " ").map(String.init) }
            .filter { $0.first == "kafka-acls.sh" && $0.contains("User:\(user)") }
        try #require(commands.count == 2)
        let names = [
            "verification.requests": topics.requests, "verification.receipts": topics.receipts,
            "verification.deliveries": topics.deliveries, "verification.dead-letters": topics.deadLetters,
            "code-courier": "\(topics.requests).group", "code-courier-receipts": "\(topics.requests).group-receipts",
            "User:\(user)": "User:code-courier",
        ]
        for command in commands {
            let words = command.map { names[$0] ?? $0 }
            let brokers = try #require(words.firstIndex(of: "--bootstrap-server"))
            try await kafka.tool(Array(words[..<brokers] + words[(brokers + 2)...]))
        }
    }
}
