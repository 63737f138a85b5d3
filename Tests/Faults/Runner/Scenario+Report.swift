// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Scenario {
    /// Writes the scenario's line to standard output and to the report.
    func report(_ checker: Checker, seconds: Double) throws {
        let counts = checker.counts
        let figures: [(String, Double)] =
            [
                ("requests", Double(counts.requests)), ("faults", Double(faults)), ("lost", Double(counts.lost)),
                ("duplicate_sms", Double(counts.duplicateMessages)), ("unknown", Double(counts.unknown)),
                ("stale_writes", Double(counts.staleWrites)), ("second_codes", Double(counts.secondCodes)),
                ("late_sends", Double(counts.lateSends)), ("refused_sends", Double(counts.refusedSends)),
                ("violations", Double(checker.violations.count)), ("seconds", seconds),
            ] + notes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        var members = figures.map { "\"\($0.0)\":\(Self.text($0.1))" }
        if !checker.violations.isEmpty {
            // The line shows the violations themselves, not only their number.
            let broken = try JSONEncoder().encode(checker.violations.prefix(10).map(\.description))
            members.append("\"broken\":\(String(decoding: broken, as: UTF8.self))")
        }
        let line = "{\"scenario\":\"\(name)\",\"seed\":\(seed),\(members.joined(separator: ","))}"
        print(line)
        guard let path = Campaign.reportPath else { return }
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Formats whole numbers without a decimal point, and others with three decimals.
    private static func text(_ value: Double) -> String {
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        return String(format: "%.3f", value)
    }
}
