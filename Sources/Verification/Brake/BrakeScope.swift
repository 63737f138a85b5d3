// SPDX-License-Identifier: Apache-2.0

import Formats

/// The kinds of sets of verifications that the brake judges together, from the narrowest to the widest.
///
/// The verifications of a tripped scope do not count for wider ones, so one prefix cannot block a country.
package enum BrakeScope: Sendable, Hashable, CaseIterable, Comparable {
    /// An IPv4 address, or the first 64 bits of an IPv6 address.
    case ip

    /// Numbers that differ only in the last four digits.
    case prefix

    /// Numbers that differ only in the last six digits: a carrier's block.
    case range

    case region

    /// The evidence needed for a trip.
    package struct Threshold: Sendable, Equatable {
        /// The minimum surprise, in nats: the chance that so few approve by accident is at most e^-need.
        package let need: Double

        /// The minimum number of expected approvals.
        package let minimum: Double

        /// The minimum ratio of expected approvals to observed ones.
        package let ratio: Double
    }

    /// The scope's name in policies, rules, tables and log lines.
    package var word: String {
        switch self {
        case .ip: "ip"
        case .prefix: "prefix"
        case .range: "range"
        case .region: "region"
        }
    }

    package init?(word: some StringProtocol) {
        guard let scope = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = scope
    }

    /// The evidence for an operator that a region's messages do not arrive, if only those of one provider of several.
    ///
    /// A quarter of the approvals lack: no block needs so few.
    static let low = Threshold(need: 13.8, minimum: 10, ratio: 4 / 3)

    package var threshold: Threshold {
        switch self {
        case .ip, .prefix: Threshold(need: 9.2, minimum: 4, ratio: 4)
        case .range: Threshold(need: 11.5, minimum: 6, ratio: 3)
        case .region: Threshold(need: 13.8, minimum: 10, ratio: 2)
        }
    }
}

/// One prefix, range, region or client of a tenant.
package struct BrakeKey: Sendable, Hashable {
    package let scope: BrakeScope

    /// The keyed digest of the digits or the address; for a region, the bytes of its name.
    package let value: Int64

    package init(_ scope: BrakeScope, _ value: Int64) {
        self.scope = scope
        self.value = value
    }

    package init(region: String) {
        self.init(.region, region.utf8.prefix(8).reduce(0) { $0 << 8 | Int64($1) })
    }

    /// The name of a region's key.
    package var regionName: String {
        let bytes = withUnsafeBytes(of: value.bigEndian) { Array($0.drop { $0 == 0 }) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
