// SPDX-License-Identifier: Apache-2.0

import Glibc
import PostgresClient
import TestTools
import Testing

/// The PostgreSQL server of the tests; each test has its own schema, which is dropped afterwards.
enum TestDatabase {
    struct Missing: Error, CustomStringConvertible {
        var description: String { "set COURIER_TEST_POSTGRES_URL to the URI of a superuser of PostgreSQL 15 or later" }
    }

    static func url() throws -> String {
        guard let value = getenv("COURIER_TEST_POSTGRES_URL") else { throw Missing() }
        return String(cString: value)
    }

    /// The test server's URI with additional parameters, which override earlier ones.
    static func url(with parameters: String) throws -> String {
        let url = try url()
        return url + (url.contains("?") ? "&" : "?") + parameters
    }

    static func configuration() throws -> PostgresConfiguration {
        PostgresConfiguration(url: try url(), applicationName: "tests")
    }

    /// A few connections for all tests without a schema, since the server allows 100 connections in total.
    private static let shared = Result { PostgresPool(try configuration(), size: 4, waitTimeout: .seconds(120)) }

    static func run<Value: Sendable>(_ body: @Sendable (Session) throws -> Value) async throws -> Value {
        try await shared.get().withSession(body)
    }

    /// Runs a pool whose sessions use a new schema, after `script` has run in it.
    static func withPool(
        size: Int = 1,
        script: String = "",
        settings: [(name: String, value: String)] = [],
        _ body: (PostgresPool) async throws -> Void
    ) async throws {
        let schema = "t_" + String(UInt128.random(in: 0...(.max)), radix: 16)
        var configuration = try configuration()
        configuration.settings.append((name: "search_path", value: schema))
        let creator = PostgresConnection(configuration)
        try await run { session in try session.script("CREATE SCHEMA \(schema)") }
        try await creator.run { session in try session.script(script) }
        await creator.close()
        configuration.settings += settings
        let pool = PostgresPool(configuration, size: size, waitTimeout: .seconds(60))
        try await doing {
            try await body(pool)
        } afterwards: {
            await pool.close()
            try await run { session in try session.script("DROP SCHEMA \(schema) CASCADE") }
        }
    }
}

/// Blocks a connection's own thread until a condition holds, as a slow statement would.
///
/// The block ends after a minute, or with its test. No signal can wake the thread, so it polls, and `pause` sets the
/// interval.
func block(until condition: () -> Bool, by pause: () throws -> Void) throws {
    let limit = Duration.seconds(60)
    let end = ContinuousClock.now + limit
    while !condition() {
        try Task.checkCancellation()
        guard ContinuousClock.now < end else { throw TimedOut("what a connection is held for", after: limit) }
        try pause()
    }
}

/// The `PostgresError` that a piece of work throws.
func postgresError(_ work: () async throws -> Void) async throws -> PostgresError {
    do {
        try await work()
    } catch let error as PostgresError {
        return error
    }
    throw NothingThrown()
}

struct NothingThrown: Error {}
