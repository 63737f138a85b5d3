// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// The version of the loaded librdkafka, as in `2.0.2`.
// SAFETY: the answer is a static string of the library.
package let librdkafkaVersion = unsafe rd_kafka_version_str().map { unsafe String(cString: $0) } ?? "unknown"

/// A version of librdkafka in the library's numbering: a byte each for major, minor and revision.
package struct LibraryVersion: Comparable, Sendable {
    private let number: Int32

    package init(_ major: Int32, _ minor: Int32, _ revision: Int32) {
        number = major << 24 | minor << 16 | revision << 8
    }

    package static let loaded = LibraryVersion(number: rd_kafka_version())

    /// The first version whose SCRAM works with Kafka 4 (librdkafka's change log, 2.6.1).
    package static let scramWithKafka4 = LibraryVersion(2, 6, 1)

    /// Clears the last byte, which marks pre-releases: they count as their release.
    private init(number: Int32) {
        self.number = number & ~0xff
    }

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.number < rhs.number }
}
