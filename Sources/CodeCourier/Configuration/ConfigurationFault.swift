// SPDX-License-Identifier: Apache-2.0

/// One thing that is wrong in a configuration or policy file, or in the environment.
///
/// It names the place and says what to write instead. It never quotes a value, since any value may be a secret that
/// slipped to the wrong place; region codes and names of providers, tenants and keys are quoted.
struct ConfigurationFault: Sendable, Hashable, CustomStringConvertible {
    /// The file as it was named, or `environment NAME` for a variable.
    let file: String

    /// The line, from 1; nil where the fault has none, as when a key is missing.
    let line: Int?

    /// The dotted key, such as `kafka.bootstrapServers` or `tenants.default.limits.perIP[1].per`; empty for the whole.
    let key: String

    /// What is wrong, with the fix in it.
    let message: String

    /// One line: `courier.yaml:12: kafka.bootstrapServers: must be …`.
    var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)"
    }
}

/// Everything that is wrong, in the order of the lines; never empty.
struct ConfigurationFaults: Error, Sendable, Equatable, CustomStringConvertible {
    let faults: [ConfigurationFault]

    /// One line per fault.
    var description: String {
        faults.map(\.description).joined(separator: "\n")
    }
}
