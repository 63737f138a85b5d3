// SPDX-License-Identifier: Apache-2.0

/// The five characters by which PostgreSQL names an error (PostgreSQL 15, appendix A).
package struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    /// A state from what a server sent; anything but five capital letters and digits is refused.
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

    /// Whether the state belongs to the class named by its first two characters.
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
