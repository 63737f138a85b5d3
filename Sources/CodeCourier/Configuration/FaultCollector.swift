// SPDX-License-Identifier: Apache-2.0

/// The faults found so far in one reading: a reader reports one and goes on, so that all come out at once.
final class FaultCollector {
    /// The file that is being read, as it was named; `environment` when there is none.
    let file: String
    private var faults: [ConfigurationFault] = []
    private var known: Set<ConfigurationFault> = []

    init(file: String) {
        self.file = file
    }

    var isEmpty: Bool { faults.isEmpty }

    /// Notes a fault in the file.
    func report(line: Int?, key: String, _ message: String) {
        add(ConfigurationFault(file: file, line: line, key: key, message: message))
    }

    /// Notes a fault in an environment variable.
    func report(variable: String, key: String, _ message: String) {
        add(ConfigurationFault(file: "environment \(variable)", line: nil, key: key, message: message))
    }

    /// The value when nothing is wrong, else all faults; those without a line come last.
    func result<Value>(_ value: Value?) -> Result<Value, ConfigurationFaults> {
        if let value, faults.isEmpty { return .success(value) }
        if faults.isEmpty { report(line: nil, key: "", "cannot be read") }
        let ordered = faults.enumerated().sorted {
            ($0.element.line ?? .max, $0.offset) < ($1.element.line ?? .max, $1.offset)
        }
        return .failure(ConfigurationFaults(faults: ordered.map(\.element)))
    }

    /// A value that two readers find wrong is reported once.
    private func add(_ fault: ConfigurationFault) {
        if known.insert(fault).inserted { faults.append(fault) }
    }
}
