// SPDX-License-Identifier: Apache-2.0

/// The address of a PostgreSQL database, and the limits of every session with it.
package struct PostgresConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    /// A libpq connection URI, which may contain the password; its values override the defaults here.
    package var url: String
    package var applicationName: String
    /// The connection timeout for one host; libpq counts whole seconds, at least 2.
    package var connectTimeout: Duration
    /// The limit for one statement; zero for none.
    ///
    /// It also limits the wait for an answer.
    package var statementTimeout: Duration
    package var lockTimeout: Duration
    package var idleInTransactionTimeout: Duration
    /// The limit for one transaction, on servers that have one (PostgreSQL 17); zero for none.
    ///
    /// The server ends the session at the limit, whatever it waits for. Set it longer than a slow database may need for
    /// a batch.
    package var transactionTimeout = Duration.zero
    /// Server settings of the session, such as `search_path`.
    package var settings: [(name: String, value: String)]
    /// False to send no limits and settings to the server, for a session that only inspects the server.
    package var hasSettings = true
    /// Called before each connection for the current URI, which may have another login; nil to use `url`.
    package var newestURL: (@Sendable () -> String)?
    /// Called at each answer to a statement, in the task that waits for it.
    package var onAnswer: (@Sendable () -> Void)?
    /// Called before each connection, so that a rotated password is used; nil for the password in the URI.
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

    /// Omits the URI, which may contain a password.
    package var description: String { "PostgresConfiguration(\(applicationName))" }
    package var customMirror: Mirror { Mirror(self, children: ["applicationName": applicationName]) }

    /// The limits, the settings, and a mark: a setting that the server reports, which proves that the others arrived.
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

    /// TCP limits by which the server detects a lost client: 11 s of silence, or 10 s without acknowledgement of an
    /// answer.
    ///
    /// With the server's defaults, a lost client's transaction would keep its locks for more than two hours. Over a
    /// Unix socket the settings have no effect and cause no error.
    static let probes = [
        (name: "tcp_keepalives_idle", value: "5"), (name: "tcp_keepalives_interval", value: "2"),
        (name: "tcp_keepalives_count", value: "3"), (name: "tcp_user_timeout", value: "10000"),
    ]

    /// PostgreSQL's defaults for settings that change the meaning of statements or the guarantees of a commit.
    ///
    /// They override the settings of a role or a database.
    static let standards = [
        (name: "default_transaction_isolation", value: "read committed"),
        (name: "default_transaction_deferrable", value: "off"), (name: "standard_conforming_strings", value: "on"),
        (name: "transform_null_equals", value: "off"), (name: "backslash_quote", value: "safe_encoding"),
        (name: "bytea_output", value: "hex"), (name: "DateStyle", value: "ISO, MDY"), (name: "TimeZone", value: "UTC"),
        (name: "array_nulls", value: "on"), (name: "row_security", value: "on"),
        (name: "check_function_bodies", value: "on"), (name: "idle_session_timeout", value: "0"),
        (name: "enable_indexscan", value: "on"), (name: "enable_nestloop", value: "on"), (name: "jit", value: "off"),
    ]

    /// The search path, by default only the server's own functions, operators and types.
    ///
    /// It overrides the path of a role, a database or the URI: anybody who may create objects in a schema of that path
    /// could replace the server's own.
    private var searchPath: String { settings.last { $0.name == "search_path" }?.value ?? "pg_catalog" }

    /// The search path once more, after the options of the URI, which it overrides.
    var lastServerOption: String { hasSettings ? "-c " + Self.escaped("search_path=\(searchPath)") : "" }

    /// A harmless mark: every server reports this setting, and the ledger reads no interval as text.
    static let mark = (name: "IntervalStyle", value: "iso_8601")

    /// The settings in the format of the server's command line (`-c name=value`, with spaces and `\` escaped).
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
