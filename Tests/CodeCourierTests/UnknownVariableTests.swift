// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import CodeCourier

/// Tests the warnings about variables that resemble a key's variable.
@Suite struct UnknownVariableTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private func told(_ variables: [String: String]) throws -> [UnknownVariable] {
        let environment = ExampleFiles.keys.merging(variables) { _, new in new }
        return try folder.load(ExampleFiles.smallest, environment: environment).get().unknownVariables
    }

    /// Unknown variables, and the suggested variable for each.
    static let unknown: [(String, String?)] = [
        ("KAFKA_BOOTSTRAP_SERVER", "KAFKA_BOOTSTRAP_SERVERS"),
        ("KAFKA_TOPICS_DEADLETTERS", "KAFKA_TOPICS_DEAD_LETTERS"),
        ("WORKER_CELLS", "WORKER_CELL"), ("POLICY_PATHS", "POLICY_PATH"), ("KEYS_CODEFILE", "KEYS_CODE_FILE"),
        ("WORKER_MAX_INFLIGHT", "WORKER_MAX_IN_FLIGHT"), ("LOG_LEVLE", "LOG_LEVEL"),
        ("PROVIDERS_MAIN_RATES", "PROVIDERS_MAIN_RATE"),
        ("KAFKA_PORT", nil), ("KAFKA_PORT_9092_TCP_ADDR", nil), ("KAFKA_SERVICE_HOST", nil), ("KAFKA_HEAP_OPTS", nil),
        ("POSTGRES_PORT", nil), ("POSTGRES_SERVICE_HOST", nil), ("POSTGRES_USER", nil), ("POSTGRES_PASSWORD", nil),
        ("POSTGRES_DB", nil), ("LOG_DIR", nil), ("MY_KAFKA_GROUP_ID", nil), ("KAFKA", nil),
    ]

    @Test(arguments: unknown)
    func `a variable that looks like a key's is told, without its value, and one of others is not`(
        name: String,
        nearest: String?
    ) throws {
        let expected = nearest.map { [UnknownVariable(name: name, nearest: $0)] } ?? []
        #expect(try told([name: "hidden-value"]) == expected)
    }

    @Test func `a variable of a key is not told`() throws {
        let variables = [
            "KAFKA_TOPICS_DEAD_LETTERS": "env", "POSTGRES_URL_FILE": "", "LOG_STATS_INTERVAL": "1m",
            "PROVIDERS_MAIN_RATE": "10/s", "WORKER_HEALTH_PATH": "/run/health",
        ]
        #expect(try told(variables).isEmpty)
    }
}
