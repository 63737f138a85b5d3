// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CodeCourier

@Suite("The number of databases that share limits")
struct DatabaseCountTests {
    /// What a configuration says under `postgres`, the environment, and what it comes to.
    static let cases: [(String, [String: String], DatabaseCount)] = [
        ("{}", [:], .known(1)), ("{ url: \"postgresql:///one\" }", [:], .known(1)),
        ("{ urlFile: /nowhere }", [:], .known(1)), ("{ shards: [] }", [:], .known(1)),
        ("{ shards: [\"postgresql:///a\", \"postgresql:///b\", \"postgresql:///c\"] }", [:], .known(3)),
        ("{ shardsFile: /nowhere }", [:], .inFile), ("{}", ["POSTGRES_SHARDS_FILE": "/nowhere"], .inFile),
        ("{}", ["POSTGRES_SHARDS": "postgresql://a,b/one, postgres://c:1,d:2/two"], .known(2)),
        ("{ shardsFile: /nowhere }", ["POSTGRES_SHARDS": "postgresql:///a,postgresql:///b"], .known(2)),
        ("{ shards: [\"postgresql:///a\", \"postgresql:///b\"] }", ["POSTGRES_URL": "postgresql:///x"], .known(1)),
        ("{ shards: [\"postgresql:///a\", \"postgresql:///b\"] }", ["POSTGRES_URL_FILE": "/nowhere"], .known(1)),
    ]

    @Test(arguments: cases)
    func `it is read as a worker does, without opening a file`(
        postgres: String,
        environment: [String: String],
        expected: DatabaseCount
    ) throws {
        let folder = try ScratchFolder()
        let path = try folder.write("postgres: \(postgres)\n", to: "courier.yaml")
        #expect(try PolicySettings.load(path: path, environment: environment).get().databases == expected)
    }

    @Test func `without a configuration there is one`() throws {
        #expect(try PolicySettings.load(path: nil, environment: [:]).get().databases == .known(1))
    }
}
