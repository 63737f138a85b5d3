// SPDX-License-Identifier: Apache-2.0

import Configuration
import Providers
import SettingsReading
import Verification

/// The layers of the configuration: the environment overrides the file.
///
/// A key's variable has swift-configuration's name: `kafka.bootstrapServers` is `KAFKA_BOOTSTRAP_SERVERS`, and
/// `authToken` of the provider `main` is `PROVIDERS_MAIN_AUTH_TOKEN`. White space and line ends around a variable's
/// value are ignored. An empty variable counts as not set, since a container's manifest can hardly omit one. Reading
/// continues after a fault, so that all faults are reported at once.
final class ConfigurationSource: SettingSource {
    let faults: FaultCollector
    let file: FileSettings

    /// False when everything comes from the environment.
    let hasFile: Bool

    /// True without a file or when its root is a mapping; otherwise missing keys cannot be reported.
    let isUnderstood: Bool

    /// The names of the variables that are set, sorted.
    let variableNames: [String]

    /// The files read so far for secrets that a running worker reloads.
    var secretFiles: [String: Secret] = [:]

    /// The base folder of the file's relative paths; nil without a file.
    private let folder: String?
    private let variables: EnvironmentVariablesProvider
    private let reader: ConfigReader

    /// Reads the file at `path`, if any, and the variables of `environment`.
    ///
    /// With `text`, that is the file's content and `path` only its name.
    init(path: String?, text: String? = nil, environment: [String: String]) {
        faults = FaultCollector(file: path ?? "environment")
        var root: YAMLValue?
        if let path {
            do throws(TextFile.Unreadable) {
                let content =
                    if let text { text } else { try TextFile.read(path, maximumBytes: YAMLDocument.maximumBytes) }
                root = YAMLDocument.parse(content, faults: faults)
            } catch {
                faults.report(line: nil, key: "", error.reason)
            }
        }
        file = FileSettings(root: root)
        hasFile = path != nil
        isUnderstood = path == nil || root?.isMapping == true
        folder = path?.lastIndex(of: "/").flatMap { slash in path?[...slash] }.map(String.init)
        let environment = environment.mapValues(\.trimmed).filter { !$0.value.isEmpty }
        variableNames = environment.keys.sorted()
        variables = EnvironmentVariablesProvider(environmentVariables: environment)
        let values = file.scalars.map { key, scalar in
            (AbsoluteConfigKey(key), ConfigValue(.string(scalar.text), isSecret: true))
        }
        let layer = InMemoryProvider(name: "file", values: Dictionary(values) { first, _ in first })
        reader = ConfigReader(providers: [variables, layer])
    }

    /// The text of a key from the highest layer that has it; marked as secret, so that no access log shows it.
    func setting(_ key: SettingKey) -> StatedValue? {
        guard let text = reader.string(forKey: ConfigKey(key), isSecret: true) else { return nil }
        if let lookup = try? variables.value(forKey: AbsoluteConfigKey(key), type: .string), lookup.value != nil {
            return plain(StatedValue(text: text, origin: .environment(variable: lookup.encodedKey)), key)
        }
        return file.scalars[key].map { plain($0, key) }
    }

    /// The keys whose values contain a template placeholder, which is the only fault reported for them.
    private var keysWithPlaceholders: Set<SettingKey> = []

    /// A setting trimmed; quotes around the whole value are reported, and suppress other faults of the key.
    private func plain(_ setting: StatedValue, _ key: SettingKey) -> StatedValue {
        guard !ProviderEntry.quotable.contains(key.last ?? "") else { return setting }
        let text = setting.text.trimmed
        if let unquoted = text.unquoted {
            let cause = if case .environment = setting.origin { "; docker's --env-file keeps them" } else { "" }
            report(key, at: setting.origin, "must have no quotes around it, which would be part of it\(cause)")
            return StatedValue(text: unquoted, origin: setting.origin)
        }
        if text.hasPlaceholder, !keysWithPlaceholders.contains(key) {
            report(key, at: setting.origin, StatedValue.placeholderFault)
            keysWithPlaceholders.insert(key)
        }
        return StatedValue(text: text, origin: setting.origin)
    }

    /// The path of a file; a relative path in the configuration file starts at that file's folder.
    func path(_ key: SettingKey) -> String? {
        guard let origin = setting(key)?.origin else { return nil }
        return read(key, .text(upTo: 4096)).map { resolve($0, at: origin) }
    }

    /// Reports a fault where a key is set, or without a line if it has its default.
    func report(_ key: SettingKey, _ message: String) {
        if let setting = setting(key) { return report(key, at: setting.origin, message) }
        faults.report(line: nil, key: key.joined(separator: "."), message)
    }

    /// Reports a fault at the origin of a setting.
    func report(_ key: SettingKey, at origin: StatedValue.Origin, _ message: String) {
        if keysWithPlaceholders.contains(key) { return }
        switch origin {
        case .environment(let variable):
            faults.report(variable: variable, key: key.joined(separator: "."), message)
        case .file(let value):
            value.fault(message)
        }
    }

    /// Reports a missing key, unless the file was not understood or the key is present but faulty.
    func reportMissing(_ key: SettingKey, such example: String, line: Int? = nil) {
        let names = [key, key.ofFile]
        guard isUnderstood, !names.contains(where: { file.faulty.contains($0) || setting($0) != nil }) else { return }
        let variable = Self.variableName(key)
        let name = key.joined(separator: ".")
        faults.report(line: line, key: name, "is required; add it, such as \(example), or set \(variable)")
    }

    static func variableName(_ key: SettingKey) -> String {
        let lookup = try? EnvironmentVariablesProvider(environmentVariables: [:]).value(
            forKey: AbsoluteConfigKey(key),
            type: .string
        )
        return lookup?.encodedKey ?? key.joined(separator: "_").uppercased()
    }

    /// The path to open: relative to the folder of the file that states it, or to the working folder for a variable.
    func resolve(_ path: String, at origin: StatedValue.Origin) -> String {
        guard case .file = origin, !path.hasPrefix("/"), let folder else { return path }
        return folder + path
    }

    /// Keeps a secret's file to watch, unless it is Kafka's or PostgreSQL's.
    ///
    /// Kafka's clients keep the secrets of the worker's start, and PostgreSQL's connections read their file each time
    /// they connect.
    func note(_ secret: Secret, in path: String, for key: SettingKey) {
        if key[0] != "kafka", key[0] != "postgres" { secretFiles[path] = secret }
    }
}

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
