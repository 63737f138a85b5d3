// SPDX-License-Identifier: Apache-2.0

/// How to reach one PostgreSQL database, and the limits of every session with it.
package struct PostgresConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    /// A libpq connection URI, which may hold the password and wins over the defaults here.
    package var url: String
    package var applicationName: String
    /// How long one host may take to accept; libpq counts whole seconds, at least 2.
    package var connectTimeout: Duration
    /// How long a statement may run; zero is for ever.
    ///
    /// It also bounds how long an answer is waited for.
    package var statementTimeout: Duration
    package var lockTimeout: Duration
    package var idleInTransactionTimeout: Duration
    /// The time that a transaction may take, where the server has such a limit (PostgreSQL 17); zero is for ever.
    ///
    /// It ends the session, whatever that waits for. It is longer than a slow database may take for a batch.
    package var transactionTimeout = Duration.zero
    /// Server settings of the session, such as `search_path`.
    package var settings: [(name: String, value: String)]
    /// Whether limits and settings are given to the server at all: not by who only looks what the server is.
    package var hasSettings = true
    /// Asked before each connection for the URI as it is now, with another login perhaps; nil leaves it as it was.
    package var newestURL: (@Sendable () -> String)?
    /// Told of each statement's answer, in the task that waits for it.
    package var onAnswer: (@Sendable () -> Void)?
    /// Asked before each connection, so that a rotated password is taken up; nil leaves it to the URI.
    package var password: @Sendable () -> String?

    package init(
        url: String,
        applicationName: String = "code-courier",
        connectTimeout: Duration = .seconds(5),
        statementTimeout: Duration = .seconds(10),
        lockTimeout: Duration = .seconds(1),
        idleInTransactionTimeout: Duration = .seconds(10),
        settings: [(name: String, value: String)] = [],
        password: @escaping @Sendable () -> String? = { nil }
    ) {
        self.url = url
        self.applicationName = applicationName
        self.connectTimeout = connectTimeout
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
        self.idleInTransactionTimeout = idleInTransactionTimeout
        self.settings = settings
        self.password = password
    }

    /// Not the URI, which may hold a password.
    package var description: String { "PostgresConfiguration(\(applicationName))" }
    package var customMirror: Mirror { Mirror(self, children: ["applicationName": applicationName]) }

    /// The limits, the settings, and a mark that the server reports, which tells whether they arrived.
    var sessionSettings: [(name: String, value: String)] {
        guard hasSettings else { return [] }
        let limits = [
            (name: "statement_timeout", value: String(statementTimeout.wholeMilliseconds)),
            (name: "lock_timeout", value: String(lockTimeout.wholeMilliseconds)),
            (name: "idle_in_transaction_session_timeout", value: String(idleInTransactionTimeout.wholeMilliseconds)),
        ]
        return [(name: "search_path", value: searchPath)] + Self.standards + limits + Self.probes + settings
            + [Self.mark]
    }

    /// When the server takes a session for lost whose machine or network is away: after 11 s of silence, or 10 s in which
    /// nobody acknowledges an answer.
    ///
    /// By its own defaults it would keep the locks of a transaction for more than two hours. Over a Unix socket they say
    /// nothing and are no fault.
    static let probes = [
        (name: "tcp_keepalives_idle", value: "5"), (name: "tcp_keepalives_interval", value: "2"),
        (name: "tcp_keepalives_count", value: "3"), (name: "tcp_user_timeout", value: "10000"),
    ]

    /// PostgreSQL's own defaults of what changes the meaning of statements or what a commit promises, whatever a role or a
    /// database sets.
    static let standards = [
        (name: "default_transaction_isolation", value: "read committed"),
        (name: "default_transaction_deferrable", value: "off"), (name: "standard_conforming_strings", value: "on"),
        (name: "transform_null_equals", value: "off"), (name: "backslash_quote", value: "safe_encoding"),
        (name: "bytea_output", value: "hex"), (name: "DateStyle", value: "ISO, MDY"), (name: "TimeZone", value: "UTC"),
        (name: "array_nulls", value: "on"), (name: "row_security", value: "on"),
        (name: "check_function_bodies", value: "on"), (name: "idle_session_timeout", value: "0"),
        (name: "enable_indexscan", value: "on"), (name: "enable_nestloop", value: "on"), (name: "jit", value: "off"),
    ]

    /// What unqualified names mean: the server's own functions, operators and types, whatever a role, a database or the URI
    /// sets, since anybody who may create something in a schema of that path could stand in for them.
    private var searchPath: String { settings.last { $0.name == "search_path" }?.value ?? "pg_catalog" }

    /// The setting that stands behind the URI's own options.
    var lastServerOption: String { hasSettings ? "-c " + Self.escaped("search_path=\(searchPath)") : "" }

    /// The ledger reads no interval as text, and every server reports the style of them.
    static let mark = (name: "IntervalStyle", value: "iso_8601")

    /// The settings as the server's command line takes them (`-c name=value`, spaces and `\` escaped).
    var serverOptions: String {
        sessionSettings.map { "-c " + Self.escaped("\($0.name)=\($0.value)") }.joined(separator: " ")
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            if character == "\\" || character.properties.isWhitespace { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(character)
        }
        return result
    }
}

extension Duration {
    /// The duration in milliseconds, rounded up, between 0 and `Int32.max`.
    var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? 0 : .max }
        let (sum, carried) = product.addingReportingOverflow(
            (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        )
        return carried ? .max : Int32(clamping: max(0, sum))
    }
}
