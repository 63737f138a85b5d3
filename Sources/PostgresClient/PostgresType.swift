// SPDX-License-Identifier: Apache-2.0

/// A built-in type and its array type, by the object ids fixed in PostgreSQL's `pg_type.dat`.
struct PostgresType: Sendable, Hashable {
    let identifier: UInt32
    let arrayIdentifier: UInt32

    static let bool = PostgresType(identifier: 16, arrayIdentifier: 1000)
    static let bytes = PostgresType(identifier: 17, arrayIdentifier: 1001)
    static let int64 = PostgresType(identifier: 20, arrayIdentifier: 1016)
    static let int16 = PostgresType(identifier: 21, arrayIdentifier: 1005)
    static let int32 = PostgresType(identifier: 23, arrayIdentifier: 1007)
    static let text = PostgresType(identifier: 25, arrayIdentifier: 1009)
    static let double = PostgresType(identifier: 701, arrayIdentifier: 1022)
    static let timestamp = PostgresType(identifier: 1184, arrayIdentifier: 1185)
    static let uuid = PostgresType(identifier: 2950, arrayIdentifier: 2951)
}

/// The instants of `timestamptz`: microseconds since 2000-01-01T00:00:00Z, with the two ends of `Int64` as infinities.
enum PostgresInstant {
    /// Microseconds from 1970-01-01 to 2000-01-01.
    static let epoch: Int64 = 946_684_800_000_000

    /// Converts from microseconds since 1970; a time too early for the format becomes one that the server rejects.
    static func encode(_ microseconds: Int64) -> Int64 {
        if microseconds == .min || microseconds == .max { return microseconds }
        let (difference, overflow) = microseconds.subtractingReportingOverflow(epoch)
        return overflow ? .min + 1 : difference
    }

    /// Converts to microseconds since 1970; the last 30 years of PostgreSQL's range (about 294,247) are clamped.
    static func decode(_ value: Int64) -> Int64 {
        if value == .min || value == .max { return value }
        let (sum, overflow) = value.addingReportingOverflow(epoch)
        return overflow ? .max : sum
    }
}
