// SPDX-License-Identifier: Apache-2.0

import Logs
import SettingsReading
import TestSupport
import TestTools
import Testing

@testable import CodeCourier

/// Tests the warnings at the start: a remote database without a TLS setting.
@Suite struct StartWarningTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private func warnings(_ url: String, _ variables: [String: String] = [:]) throws -> [StartWarning] {
        var environment = ExampleFiles.keys.merging(variables) { _, new in new }
        environment["POSTGRES_URL"] = url
        return try folder.load(ExampleFiles.smallest, environment: environment).get()
            .warnings(environment: environment)
    }

    @Test(arguments: [
        ("postgresql://worker:secret@db.example.com/courier", "db.example.com"),
        ("postgresql://worker@10.0.0.7:5433/courier?connect_timeout=3", "10.0.0.7"),
        ("postgresql://worker@127.0.0.1,db2/courier", "db2"), ("postgresql:///courier?host=db3", "db3"),
        ("postgresql://localhost/courier?hostaddr=192.0.2.7", "192.0.2.7"),
        ("postgresql://127.example.com/courier", "127.example.com"),
        ("postgresql://[2001:db8::1]/courier", "2001:db8::1"),
    ])
    func `another machine without sslmode is told, and nobody's name or password`(url: String, host: String) throws {
        let found = try warnings(url)
        #expect(found == [.postgresWithoutTLS(host: host, key: "postgres.url")])
        let log = LogRecord()
        for warning in found { warning.write(to: log.logger) }
        #expect(log.lines(.postgresWithoutTLS).map { $0.fields["server.address"] } == [.text(host)])
        for text in log.texts + found.map(\.description) {
            #expect(!text.contains("secret") && !text.contains("worker@") && !text.contains("worker:"))
        }
    }

    @Test(arguments: [
        "postgresql://worker@127.0.0.1/courier", "postgresql://worker@127.8.9.10/courier",
        "postgresql://worker@LocalHost:5433/courier", "postgresql://[::1]/courier", "postgresql:///courier",
        "postgresql://%2Frun%2Fpostgresql/courier", "postgresql:///courier?host=@abstract",
        "postgresql://db.example.com/courier?sslmode=verify-full",
        "postgresql://db.example.com/courier?sslmode=disable",
    ])
    func `this machine, and a URL that says what it wants, are no warning`(url: String) throws {
        #expect(try warnings(url) == [])
    }

    @Test func `libpq's own variable says it as well, and a file is called by its key`() throws {
        let url = "postgresql://db.example.com/courier"
        #expect(try warnings(url, ["PGSSLMODE": "verify-full"]) == [])
        let path = try folder.write(url, to: "postgres-url")
        var environment = ExampleFiles.keys
        environment["POSTGRES_URL_FILE"] = path
        let text = ExampleFiles.smallest.split(separator: "\n").filter { !$0.hasPrefix("postgres:") }
        let configuration = try folder.load(text.joined(separator: "\n"), environment: environment).get()
        #expect(
            configuration.warnings(environment: environment)
                == [.postgresWithoutTLS(host: "db.example.com", key: "postgres.urlFile")]
        )
    }
}
