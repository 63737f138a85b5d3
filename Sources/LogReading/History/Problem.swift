// SPDX-License-Identifier: Apache-2.0

import Formats

/// A group of equal warnings or errors.
struct Problem {
    struct Kind: Hashable {
        let severity: LogSeverity
        let event: String

        /// The value that distinguishes lines of one event: a provider, a stage, a code.
        let detail: String
    }

    let kind: Kind
    private(set) var count = 0.0
    private(set) var first: Timestamp
    private(set) var last: Timestamp

    init(_ kind: Kind, at time: Timestamp) {
        self.kind = kind
        first = time
        last = time
    }

    /// The event that reports the number of suppressed lines.
    static let suppressed = "log.suppressed"

    mutating func note(_ entry: LogEntry) {
        count += entry.event == Self.suppressed ? entry.fields.amount("suppressed") ?? 1 : 1
        first = min(first, entry.time)
        last = max(last, entry.time)
    }

    /// The fields with a small vocabulary, in the order of display.
    private static let telling = [
        "log.event", "provider", "stage", "outcome", "reason", "rule", "error_code", "sqlstate", "signal", "error",
        "topic", "broker", "fault", "stalled",
    ]

    static func kind(of entry: LogEntry) -> Kind {
        // A library's line has no other field.
        let names = entry.event == "library.message" ? ["message"] : telling
        let words = names.compactMap { name in
            entry.fields.text(name).map { $0.isEmpty ? "" : "\(name)=\($0.cut(512))" }
        }
        return Kind(
            severity: entry.severity,
            event: entry.event,
            detail: words.filter { !$0.isEmpty }.joined(separator: " ")
        )
    }
}
