// SPDX-License-Identifier: Apache-2.0

/// One fault in a configuration or policy file, or in the environment.
///
/// It states the location and the correct form. It never quotes a value, since any value may be a secret under the
/// wrong key; it does quote region codes and names of providers, tenants and keys.
struct ConfigurationFault: Sendable, Hashable, CustomStringConvertible {
    /// The file as given, or `environment NAME` for a variable.
    let file: String

    /// The line, counted from 1; nil for a fault without one, such as a missing key.
    let line: Int?

    /// The dotted key, such as `kafka.bootstrapServers` or `tenants.default.limits.perIP[1].per`; empty for the whole
    /// file.
    let key: String

    /// The problem and its remedy.
    let message: String

    /// The fault in one line: `courier.yaml:12: kafka.bootstrapServers: must be …`.
    var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)"
    }
}

/// All faults, ordered by line; never empty.
struct ConfigurationFaults: Error, Sendable, Equatable, CustomStringConvertible {
    let faults: [ConfigurationFault]

    var description: String {
        faults.map(\.description).joined(separator: "\n")
    }
}
