// SPDX-License-Identifier: Apache-2.0

import Foundation
import KafkaClient
import TestTools
import Verification

/// Controls the Apache Kafka cluster of `make test-kafka` by the script `deploy/local/kafka.sh`.
package struct ApacheKafka: Sendable {
    package enum End: String, Sendable {
        case commit, abort

        /// The producer exits with the transaction open; the broker aborts it after the transaction timeout.
        case leave
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let nodes: ClosedRange<Int>
    private let name: String
    private let home: String
    private let bootstrapServers: String
    private let folder: ScratchFolder

    package init(_ fleet: TestFleet) throws {
        let variables = ProcessInfo.processInfo.environment
        guard let name = variables["COURIER_TEST_KAFKA_CLUSTER"], let home = variables["KAFKA_HOME"] else {
            throw Failure(description: "there is no Apache Kafka: run `make test-kafka`")
        }
        (self.name, self.home) = (name, home)
        bootstrapServers = fleet.cluster.bootstrapServers
        nodes = 1...bootstrapServers.split(separator: ",").count
        folder = fleet.folder
    }

    /// Runs a command of the script on nodes, such as `kill-node`.
    package func run(_ command: String, _ nodes: Int...) async throws {
        _ = try await script([command, name] + nodes.map { String($0) })
    }

    /// Runs one of Kafka's own command-line programs on the cluster.
    @discardableResult
    package func tool(_ program: String, _ arguments: String...) async throws -> String {
        try await script(["tool", name, program] + arguments)
    }

    @discardableResult
    package func tool(_ words: [String]) async throws -> String {
        try await script(["tool", name] + words)
    }

    /// Publishes records in one transaction, as a transactional gateway does.
    package func transaction(
        _ records: [TestRecord],
        to topic: String,
        end: End,
        seconds: Int = 60
    ) async throws {
        let lines = try records.map { record in
            let line: [String: Any] = [
                "partition": Int(record.partition ?? 0), "key": record.key ?? "",
                "value": String(decoding: record.value ?? [], as: UTF8.self),
            ]
            return String(decoding: try JSONSerialization.data(withJSONObject: line), as: UTF8.self)
        }
        let path = try folder.write(lines.joined(separator: "\n"), to: "transaction.jsonl")
        _ = try await output(
            of: Program(
                [Self.root + "/deploy/local/transaction.py", bootstrapServers, topic, end.rawValue]
                    + ["--seconds", String(seconds), path],
                executable: Self.root + "/.local/python/bin/python",
                folder: folder
            )
        )
    }

    /// The settings for a worker to connect by TLS and a password: the brokers, and librdkafka's options.
    ///
    /// SCRAM with Kafka 4 needs librdkafka 2.6.1.
    package func secureSettings() async throws -> (bootstrapServers: String, options: [(name: String, value: String)]) {
        let settings = try await script(["secure", name]).split(separator: "\n").compactMap { line in
            line.firstRange(of: ": ").map { separator in
                (
                    name: line[..<separator.lowerBound].trimmingCharacters(in: .whitespaces),
                    value: line[separator.upperBound...].trimmingCharacters(in: ["\""])
                )
            }
        }
        guard let first = settings.first, first.name == "bootstrapServers" else {
            throw Failure(description: "kafka.sh secure names no brokers")
        }
        return (first.value, Array(settings.dropFirst()))
    }

    /// The compression codecs of a partition's batches on a node: 0 to 4 for none, gzip, snappy, lz4 and zstd.
    package func codecs(of topic: String, _ partition: Int32, node: Int = 1) throws -> Set<UInt8> {
        let data = "\(Self.root)/.local/kafka/\(name)/\(node)/data/\(topic)-\(partition)/00000000000000000000.log"
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: data)))
        var codecs: Set<UInt8> = []
        var start = 0
        // A batch has its first offset in 8 bytes, its length in 4, and two bytes of attributes from byte 21.
        while start + 23 <= bytes.count {
            codecs.insert(bytes[start + 22] & 7)
            start += 12 + bytes[start + 8..<start + 12].reduce(0) { $0 << 8 | Int($1) }
        }
        return codecs
    }

    private static let root = Repository.root.path

    private func script(_ arguments: [String]) async throws -> String {
        try await output(
            of: Program(
                arguments,
                executable: Self.root + "/deploy/local/kafka.sh",
                environment: ["KAFKA_HOME": home],
                folder: folder
            )
        )
    }

    private func output(of program: Program) async throws -> String {
        let exit = try await program.exit(within: .seconds(90))
        guard exit == .code(0) else { throw Failure(description: "\(exit): \(program.output)\(program.errors)") }
        return program.output
    }
}

extension TestFleet {
    /// Makes later workers connect by TLS and a password, with some options replaced by `others`.
    package func secure(by kafka: ApacheKafka, _ others: [String: String] = [:]) async throws {
        let secure = try await kafka.secureSettings()
        try configure(cluster.bootstrapServers, secure.bootstrapServers)
        for (name, value) in secure.options { try setKafkaOption(name, "\"\(others[name] ?? value)\"") }
    }

    /// A password mechanism that the loaded librdkafka supports with Kafka 4.
    package static var mechanism: String { LibraryVersion.loaded < .scramWithKafka4 ? "PLAIN" : "SCRAM-SHA-512" }
}
