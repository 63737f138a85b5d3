// SPDX-License-Identifier: Apache-2.0

/// Collects the faults of one reading, so that all of them are reported at once.
final class FaultCollector {
    /// The name of the file being read; `environment` when there is none.
    let file: String
    private var faults: [ConfigurationFault] = []
    private var known: Set<ConfigurationFault> = []

    init(file: String) {
        self.file = file
    }

    var isEmpty: Bool { faults.isEmpty }

    func report(line: Int?, key: String, _ message: String) {
        add(ConfigurationFault(file: file, line: line, key: key, message: message))
    }

    func report(variable: String, key: String, _ message: String) {
        add(ConfigurationFault(file: "environment \(variable)", line: nil, key: key, message: message))
    }

    /// The value when there are no faults, else all faults; faults without a line come last.
    func result<Value>(_ value: Value?) -> Result<Value, ConfigurationFaults> {
        if let value, faults.isEmpty { return .success(value) }
        if faults.isEmpty { report(line: nil, key: "", "cannot be read") }
        let ordered = faults.enumerated().sorted {
            ($0.element.line ?? .max, $0.offset) < ($1.element.line ?? .max, $1.offset)
        }
        return .failure(ConfigurationFaults(faults: ordered.map(\.element)))
    }

    /// Adds a fault once, even if two readers report it.
    private func add(_ fault: ConfigurationFault) {
        if known.insert(fault).inserted { faults.append(fault) }
    }
}
