// SPDX-License-Identifier: Apache-2.0

/// A variable without a key, and the variable of the key that it most likely means.
struct UnknownVariable: Sendable, Equatable {
    let name: String
    let nearest: String
}

extension ConfigurationSource {
    /// The variables that resemble a key's variable but match no key.
    ///
    /// They are not faults, since orchestrators set variables of their own, such as `POSTGRES_SERVICE_HOST`. Only the
    /// part after the section is compared: `POSTGRES_PORT` is far from `POSTGRES_URL`.
    var unknownVariables: [UnknownVariable] {
        let known = Set(FileSettings.overridable.map(Self.variableName)).union(file.providers.flatMap(\.variables))
        let sections = FileSettings.sectionNames.map { "\($0.uppercased())_" }
        return variableNames.filter { !known.contains($0) }.compactMap { name in
            guard let section = sections.first(where: { name.hasPrefix($0) }) else { return nil }
            let candidates = known.filter { $0.hasPrefix(section) }.map { String($0.dropFirst(section.count)) }.sorted()
            return NearestKey.of(String(name.dropFirst(section.count)), among: candidates).map { nearest in
                UnknownVariable(name: name, nearest: section + nearest)
            }
        }
    }
}
