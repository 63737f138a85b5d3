// SPDX-License-Identifier: Apache-2.0

import Formats
package import PostgresClient
package import Verification

extension ConversionSample {
    /// Reads rows of `readConversions` or `courier.brake_history`, by tenant.
    package static func byTenant(_ rows: Rows) throws -> [String: [ConversionSample]] {
        var samples: [String: [ConversionSample]] = [:]
        for row in rows { samples[try row.text(1), default: []].append(try ConversionSample(row)) }
        return samples
    }

    private init(_ row: Row) throws {
        let id = UUIDValue(try row.uuid(0))
        let approvedAt = try row.optionalTimestamp(10).map { Timestamp(microseconds: $0) }
        // The numbers of `courier.conversion_outcome`.
        let outcome: Outcome =
            switch try row.int16(7) {
            case 1: .approved
            case 2: .unsent
            case 3: .fraud
            case 4: .waiting
            default: .open
            }
        let providers = try row.optionalText(8)?.split(separator: " ").filter { $0.first != "!" } ?? []
        self.init(
            id: id,
            region: try row.optionalText(2) ?? Region.unknown.code,
            client: try row.optionalInt64(3),
            prefix: try row.optionalInt64(4),
            range: try row.optionalInt64(5),
            isConfirmed: try row.optionalBool(6) ?? false,
            outcome: outcome,
            provider: providers.last.map(String.init),
            firstProvider: providers.first.map(String.init),
            sends: Int(try row.int16(9)),
            approvedAfter: approvedAt.flatMap { end in id.version7Time.map { end - $0 } }
        )
    }
}

extension ConversionCounts {
    /// Reads the sums of hours, of all providers together.
    package init(_ rows: Rows) throws {
        var groups: [Group: Count] = [:]
        for row in rows {
            let group = Group(
                hour: try Timestamp(row, 0),
                tenant: try row.text(1),
                region: try row.text(2),
                provider: "",
                isConfirmed: try row.bool(3)
            )
            let counts = try (4...12).map { Int(try row.int64($0)) }
            groups[group] = Count(
                verifications: counts[0],
                approved: counts[1],
                sends: counts[2],
                within: Array(counts[3...])
            )
        }
        self.init(groups)
    }

    /// Reads the rows of `readRouteHours`.
    package init(firsts rows: Rows) throws {
        var groups: [Group: Count] = [:]
        for row in rows {
            let group = Group(
                hour: try Timestamp(row, 0),
                tenant: try row.text(1),
                region: try row.text(2),
                provider: try row.text(3),
                isConfirmed: try row.bool(4)
            )
            var count = Count()
            count.firsts = Int(try row.int64(5))
            count.firstsApproved = Int(try row.int64(6))
            groups[group] = count
        }
        self.init(groups)
    }
}
