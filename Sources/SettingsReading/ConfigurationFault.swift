// SPDX-License-Identifier: Apache-2.0

/// One fault in a configuration or policy file, or in the environment.
///
/// It states the location and the correct form. It never quotes a value, since any value may be a secret under the
/// wrong key; it does quote region codes and names of providers, tenants and keys.
package struct ConfigurationFault: Sendable, Hashable, CustomStringConvertible {
    /// The file as given, or `environment NAME` for a variable.
    package let file: String

    /// The line, counted from 1; nil for a fault without one, such as a missing key.
    package let line: Int?

    /// The dotted key, such as `kafka.bootstrapServers` or `tenants.default.limits.perIP[1].per`; empty for the whole
    /// file.
    package let key: String

    /// The problem and its remedy.
    package let message: String

    /// The fault in one line: `courier.yaml:12: kafka.bootstrapServers: must be …`.
    package var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)"
    }
}

/// All faults, ordered by line; never empty.
package struct ConfigurationFaults: Error, Sendable, Equatable, CustomStringConvertible {
    package let faults: [ConfigurationFault]

    package var description: String {
        faults.map(\.description).joined(separator: "\n")
    }
}

/// Collects the faults of one reading, so that all of them are reported at once.
package final class FaultCollector {
    /// The name of the file being read; `environment` when there is none.
    package let file: String
    private var faults: [ConfigurationFault] = []
    private var known: Set<ConfigurationFault> = []

    /// The faults of files that this one names.
    private var further: [ConfigurationFault] = []

    package init(file: String) {
        self.file = file
    }

    package var isEmpty: Bool { faults.isEmpty && further.isEmpty }

    package func report(line: Int?, key: String, _ message: String) {
        add(ConfigurationFault(file: file, line: line, key: key, message: message))
    }

    /// Adds the faults of a file that this one names.
    package func include(_ faults: ConfigurationFaults) { further += faults.faults }

    package func report(variable: String, key: String, _ message: String) {
        add(ConfigurationFault(file: "environment \(variable)", line: nil, key: key, message: message))
    }

    /// The value when there are no faults, else all faults; faults without a line come last.
    package func result<Value>(_ value: Value?) -> Result<Value, ConfigurationFaults> {
        if let value, isEmpty { return .success(value) }
        if isEmpty { report(line: nil, key: "", "cannot be read") }
        let ordered = faults.enumerated().sorted {
            ($0.element.line ?? .max, $0.offset) < ($1.element.line ?? .max, $1.offset)
        }
        return .failure(ConfigurationFaults(faults: ordered.map(\.element) + further))
    }

    /// Leaves faults out that do not concern a reading.
    package func remove(where isIrrelevant: (ConfigurationFault) -> Bool) {
        faults.removeAll(where: isIrrelevant)
    }

    /// Adds a fault once, even if two readers report it.
    private func add(_ fault: ConfigurationFault) {
        if known.insert(fault).inserted { faults.append(fault) }
    }
}

/// Finds the known key that a mistyped one most likely means.
package enum NearestKey {
    /// The key of `known` that differs from `text` by case or by at most a third of its letters, or nil.
    package static func of(_ text: String, among known: [String]) -> String? {
        guard text.utf8.count <= 64 else { return nil }
        let wanted = Array(text.lowercased().utf8)
        let ranked = known.map { (key: $0, distance: distance(wanted, Array($0.lowercased().utf8))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.key.utf8.count / 3) ? best.key : nil
    }

    /// The edit distance: the least number of bytes inserted, deleted, replaced or swapped with their neighbour.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for (column, other) in right.enumerated() {
                let replaced = previous[column] + (byte == other ? 0 : 1)
                var least = min(replaced, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                    least = min(least, beforePrevious[column - 1] + 1)
                }
                current.append(least)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[right.count]
    }
}
