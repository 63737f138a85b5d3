// SPDX-License-Identifier: Apache-2.0

/// The five-character code of a PostgreSQL error (PostgreSQL 15, appendix A).
package struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    /// Validates a code from a server; nil for anything but five capital letters and digits.
    package init?(rawValue: String) {
        let isWellFormed = rawValue.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        }
        guard rawValue.utf8.count == 5, isWellFormed else { return nil }
        self.rawValue = rawValue
    }

    private init(_ literal: StaticString) {
        rawValue = literal.description
    }

    package var description: String { rawValue }

    /// PostgreSQL's name of the state, or else of its class (PostgreSQL 17, appendix A); nil for an extension's state.
    package var name: String? { Self.names[rawValue] ?? Self.classes[String(rawValue.prefix(2))] }

    private static let names = [
        "08001": "sqlclient_unable_to_establish_sqlconnection", "08006": "connection_failure",
        "0A000": "feature_not_supported", "21000": "cardinality_violation", "22001": "string_data_right_truncation",
        "22003": "numeric_value_out_of_range", "22021": "character_not_in_repertoire",
        "22P02": "invalid_text_representation", "23502": "not_null_violation", "23503": "foreign_key_violation",
        "23505": "unique_violation", "23514": "check_violation", "25006": "read_only_sql_transaction",
        "25P02": "in_failed_sql_transaction", "25P03": "idle_in_transaction_session_timeout",
        "25P04": "transaction_timeout", "28000": "invalid_authorization_specification", "28P01": "invalid_password",
        "3D000": "invalid_catalog_name", "3F000": "invalid_schema_name", "40001": "serialization_failure",
        "40003": "statement_completion_unknown", "40P01": "deadlock_detected", "42501": "insufficient_privilege",
        "42601": "syntax_error", "42703": "undefined_column", "42809": "wrong_object_type", "42704": "undefined_object",
        "42883": "undefined_function",
        "42P01": "undefined_table", "53100": "disk_full", "53200": "out_of_memory", "53300": "too_many_connections",
        "53400": "configuration_limit_exceeded", "54000": "program_limit_exceeded",
        "55000": "object_not_in_prerequisite_state", "55006": "object_in_use", "55P03": "lock_not_available",
        "57014": "query_canceled", "57P01": "admin_shutdown", "57P02": "crash_shutdown", "57P03": "cannot_connect_now",
        "57P05": "idle_session_timeout", "58030": "io_error", "P0001": "raise_exception", "XX000": "internal_error",
        "XX001": "data_corrupted", "XX002": "index_corrupted",
    ]

    private static let classes = [
        "08": "connection_exception", "0A": "feature_not_supported", "22": "data_exception",
        "23": "integrity_constraint_violation", "25": "invalid_transaction_state",
        "28": "invalid_authorization_specification", "40": "transaction_rollback",
        "42": "syntax_error_or_access_rule_violation", "53": "insufficient_resources", "54": "program_limit_exceeded",
        "55": "object_not_in_prerequisite_state", "57": "operator_intervention", "58": "system_error",
        "P0": "plpgsql_error", "XX": "internal_error",
    ]

    /// True when the first two characters, the class, are `prefix`.
    package func isOfClass(_ prefix: StaticString) -> Bool {
        rawValue.hasPrefix(prefix.description)
    }

    package static let uniqueViolation = SQLState("23505")
    package static let transactionTimeout = SQLState("25P04")
    package static let readOnlyTransaction = SQLState("25006")
    package static let serializationFailure = SQLState("40001")
    package static let deadlockDetected = SQLState("40P01")
    package static let lockNotAvailable = SQLState("55P03")
    package static let queryCanceled = SQLState("57014")
    package static let adminShutdown = SQLState("57P01")
    package static let crashShutdown = SQLState("57P02")
    package static let cannotConnectNow = SQLState("57P03")
}
