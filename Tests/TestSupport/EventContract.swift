// SPDX-License-Identifier: Apache-2.0

import Formats
import Synchronization
package import Verification

/// Checks all events in tests against the published schema.
///
/// Random histories make many events that differ only in ids and times. After the first thousands only a sample is
/// checked, and the first hundred of each combination of fields, status, reason and rule.
package enum EventContract {
    private struct State {
        var schema: DeliverySchema?
        var seen: [String: Int] = [:]
        var count = 0

        mutating func violations(of value: [UInt8]) throws -> [String] {
            count += 1
            guard count <= 4000 || count.isMultiple(of: 32) else { return [] }
            guard case .object(let event) = try JSONScanner.parse(value) else { return ["event type"] }
            let shape = EventContract.shape(of: event)
            seen[shape, default: 0] += 1
            guard seen[shape, default: 0] <= 100 else { return [] }
            var schema = try self.schema ?? DeliverySchema()
            defer { self.schema = schema }
            return try schema.violations(of: value)
        }
    }

    private static let state = Mutex(State())

    /// The violations of the events among some records, as `path keyword`.
    package static func violations(in records: [OutboxRecord]) -> [String] {
        violations(in: records.lazy.filter { !$0.isDeadLetter }.map { $0.value ?? [] })
    }

    /// The violations of events' values.
    package static func violations(in values: some Sequence<[UInt8]>) -> [String] {
        state.withLock { state in
            do {
                return try values.flatMap { try state.violations(of: $0) }
            } catch {
                return ["event \(error)"]
            }
        }
    }

    fileprivate static func shape(of object: JSONObject) -> String {
        object.members.map { member in
            switch member.value {
            case .object(let inner): "\(member.name){\(shape(of: inner))}"
            case .string(let text) where ["status", "reason", "rule"].contains(member.name): "\(member.name)=\(text)"
            default: member.name
            }
        }.joined(separator: ",")
    }
}
