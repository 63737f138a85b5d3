// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import Verification

/// Checks a worker's log lines against the catalogue.
enum CatalogueCheck {
    private static let common = ["timestamp", "severity", "event", "message"]

    /// Describes how a line differs from the catalogue; nil when it does not.
    static func flaw(in line: String) -> String? {
        guard case .object(let object)? = try? JSONScanner.parse(Array(line.utf8)) else { return "no object: \(line)" }
        guard case .string(let name)? = object["event"], let event = LoggedEvent.named[name] else {
            return "no event of the catalogue: \(line)"
        }
        // A library's message has its own severity.
        let levels = name == LoggedEvent.libraryMessage.name ? Logger.Level.allCases : [event.level]
        guard case .string(let severity)? = object["severity"], levels.contains(where: { $0.rawValue == severity })
        else { return "another severity: \(line)" }
        guard case .string(let time)? = object["timestamp"], Timestamp(rfc3339: time) != nil else {
            return "no time: \(line)"
        }
        guard Array(object.members.map(\.name).prefix(4)) == common else { return "another order: \(line)" }
        guard case .string? = object["worker.id"] else { return "no worker: \(line)" }
        for member in object.members.dropFirst(4) where member.name != "worker.id" {
            guard let field = LogField(rawValue: member.name), event.fields.contains(field) || field == .truncated
            else {
                return "no field of the catalogue: \(member.name) in \(line)"
            }
            if field.type != member.value.type { return "another type: \(member.name) in \(line)" }
        }
        return nil
    }
}

extension JSONValue {
    /// The type's name in the catalogue.
    fileprivate var type: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .number(let number): number.literal.contains(".") ? "number" : "integer"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
