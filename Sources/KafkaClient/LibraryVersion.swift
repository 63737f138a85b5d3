// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// The version of the librdkafka that is loaded, as in `2.0.2`.
// SAFETY: the answer is a static string of the library.
package let librdkafkaVersion = unsafe rd_kafka_version_str().map { unsafe String(cString: $0) } ?? "unknown"

/// A version of librdkafka as the library numbers it, a byte each for major, minor and revision.
package struct LibraryVersion: Comparable, Sendable {
    private let number: Int32

    package init(_ major: Int32, _ minor: Int32, _ revision: Int32) {
        number = major << 24 | minor << 16 | revision << 8
    }

    /// That of the library that is loaded.
    package static let loaded = LibraryVersion(number: rd_kafka_version())

    /// From this version on SCRAM works with Kafka 4: librdkafka's change log, 2.6.1.
    package static let scramWithKafka4 = LibraryVersion(2, 6, 1)

    /// The last byte tells pre-releases apart, which count as their release.
    private init(number: Int32) {
        self.number = number & ~0xff
    }

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.number < rhs.number }
}
