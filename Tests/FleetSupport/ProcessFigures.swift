// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Memory and processor time of a process, from the kernel.
package struct ProcessFigures: Sendable {
    /// Resident memory in MiB.
    package let memory: Double

    /// Processor time since the start, in seconds.
    package let processorTime: Double
}

extension Program {
    /// The kernel's figures of the process; nil once it has ended.
    package var figures: ProcessFigures? {
        guard let status = Self.words(of: "/proc/\(identifier)/status", separator: "\n"),
            let stat = Self.words(of: "/proc/\(identifier)/stat", separator: ")")?.last?.split(separator: " ")
        else { return nil }
        let resident = status.first { $0.hasPrefix("VmRSS:") }?.split(separator: " ").dropFirst().first
        // The first field after the name in parentheses is field 3. Fields 14 and 15 are user and system time in ticks
        // of 10 ms.
        guard let kilobytes = resident.flatMap({ Double($0) }), stat.count > 12,
            let user = Double(stat[11]), let system = Double(stat[12])
        else { return nil }
        return ProcessFigures(memory: kilobytes / 1024, processorTime: (user + system) / 100)
    }

    /// Number of open file descriptors.
    package var descriptors: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count }
    }

    private static func words(of path: String, separator: Character) -> [Substring]? {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: separator)
    }
}
