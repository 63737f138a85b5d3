// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Testing

struct PostgresErrorTests {
    @Test(arguments: [
        "40001", "40P01", "53100", "53300", "55P03", "57014", "57P01", "57P02", "57P03", "25006", "08006",
    ])
    func `a passing trouble is retriable`(state: String) {
        #expect(PostgresError(.server, sqlState: SQLState(rawValue: state)).isRetriable)
    }

    @Test(arguments: ["23505", "42601", "22P02", "25P02", "42501"])
    func `a fault of the statement is not retriable`(state: String) {
        #expect(!PostgresError(.server, sqlState: SQLState(rawValue: state)).isRetriable)
    }

    @Test(arguments: ["25006", "53100", "53300", "57P01", "57P02", "57P03", "58030", "08006"])
    func `a server that takes nothing from anybody is away`(state: String) {
        #expect(PostgresError(.server, sqlState: SQLState(rawValue: state)).isOutage)
    }

    @Test(arguments: ["40001", "40P01", "55P03", "57014", "22021", "23505", "42501"])
    func `a server that refuses or delays one statement is not`(state: String) {
        #expect(!PostgresError(.server, sqlState: SQLState(rawValue: state)).isOutage)
    }

    @Test(arguments: [PostgresError.Code.connectionFailed, .connectionLost, .ambiguousCommit, .poolExhausted])
    func `a server that does not answer is away`(code: PostgresError.Code) {
        #expect(PostgresError(code).isOutage)
    }

    @Test func `an ambiguous commit is never retriable, whatever its state`() {
        let error = PostgresError(.ambiguousCommit, sqlState: .adminShutdown)
        #expect(error.isAmbiguous && !error.isRetriable && error.isConnectionError)
    }

    @Test(arguments: ["", "2350", "235055", "2350 ", "23a05", "é505"])
    func `what is no SQLSTATE is refused`(text: String) {
        #expect(SQLState(rawValue: text) == nil)
    }

    @Test(arguments: [
        ("57014", "57014 (query_canceled)"), ("40001", "40001 (serialization_failure)"),
        ("53300", "53300 (too_many_connections)"), ("42999", "42999 (syntax_error_or_access_rule_violation)"),
        ("CC001", "CC001"),
    ])
    func `a SQLSTATE is said in words`(state: String, words: String) {
        #expect(PostgresError(.server, sqlState: SQLState(rawValue: state)).description == "PostgreSQL server \(words)")
    }

    @Test func `a configuration shows no password`() {
        let configuration = PostgresConfiguration(url: "postgresql://a:hunter2@h/d", password: { "hunter3" })
        #expect(!"\(configuration) \(String(reflecting: configuration))".contains("hunter"))
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("hunter"))
    }
}
