// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Foundation
import Verification

/// The result of an erasure: lines for a person, or one JSON object on a pipe.
struct ErasureOutput {
    let report: Eraser.Report
    let recipient: Recipient
    let isRehearsal: Bool

    private var counts: [(table: String, rows: Int64)] {
        [
            ("person", report.persons), ("receipt", report.receipts), ("send", report.sends),
            ("verification", report.verifications),
        ]
    }

    func write() {
        if isatty(STDOUT_FILENO) == 1 { printOutput(lines) } else { printOutput(json) }
    }

    private var isEmpty: Bool { counts.allSatisfy { $0.rows == 0 } }

    var lines: [String] {
        if isEmpty {
            return [
                "\(recipient.masked): nothing found",
                "next: check the number or address, --tenant, and whether this is the database of its cell",
            ]
        }
        let verb = isRehearsal ? "would be erased" : "erased"
        let width = counts.map(\.table.count).max() ?? 0
        return ["\(recipient.masked): \(verb)"]
            + counts.map { table, rows in
                "  " + table + String(repeating: " ", count: width - table.count) + "  \(Int(rows).grouped)"
            } + ["  verifications that were live: \(Int(report.cancelled).grouped)"]
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("recipient", recipient.masked)
            writer.member("dryRun", isRehearsal)
            writer.object("rows") { rows in
                for (table, count) in counts { rows.member(named: table, count) }
            }
            writer.member("cancelled", report.cancelled)
        }
        return writer.bytes
    }
}
