// SPDX-License-Identifier: Apache-2.0

package import Verification

/// A key of the configuration as its components, such as `["kafka", "bootstrapServers"]`.
package typealias SettingKey = [String]

extension SettingKey {
    /// The key that names a secret's file: `keys.codeFile` for `keys.code`.
    package var ofFile: SettingKey { Array(dropLast()) + suffix(1).map { "\($0)File" } }
}

/// The text of a setting, which a rule parses, with its origin for faults.
package struct StatedValue {
    package enum Origin {
        case environment(variable: String)
        case file(YAMLValue)
    }

    package let text: String
    package let origin: Origin

    package init(text: String, origin: Origin) {
        (self.text, self.origin) = (text, origin)
    }

    package static let placeholderFault = """
        has a ${…} or $(…) in it that nothing has replaced: values are not expanded here; set the key's own environment \
        variable, or have what writes the file replace it
        """
}

extension StatedValue.Origin {
    /// The place of the value for a person: `courier.yaml:12`, or `environment NAME`.
    package var place: String {
        switch self {
        case .environment(let variable): "environment \(variable)"
        case .file(let value): "\(value.faults.file):\(value.line)"
        }
    }
}

/// A secret with its origin, which later faults refer to.
package struct StatedSecret {
    package let secret: Secret
    package let key: SettingKey
    package let origin: StatedValue.Origin

    /// The file that holds the secret; nil for a direct value.
    package var path: String?
}

/// The layers of a configuration, read by key; a fault is reported at the origin of its value.
package protocol SettingSource {
    /// The text of a key from the highest layer that has it.
    func setting(_ key: SettingKey) -> StatedValue?

    /// Reports a fault at the origin of a setting.
    func report(_ key: SettingKey, at origin: StatedValue.Origin, _ message: String)

    /// Reports a missing key, unless it is present but faulty.
    func reportMissing(_ key: SettingKey, such example: String, line: Int?)

    /// The path to open for one that a layer states.
    func resolve(_ path: String, at origin: StatedValue.Origin) -> String

    /// Records that a file holds the secret of a key.
    func note(_ secret: Secret, in path: String, for key: SettingKey)
}

extension SettingSource {
    /// The value of a key, parsed by a rule; nil when it is absent or, with a fault, when it is invalid.
    package func read<Value>(_ key: SettingKey, _ rule: ValueRule<Value>) -> Value? {
        guard let setting = setting(key) else { return nil }
        if let value = rule.parse(setting.text) { return value }
        report(key, at: setting.origin, rule.requirement)
        return nil
    }

    /// Reads a secret given as `key`, or as `keyFile`, the path of a file that holds it.
    ///
    /// The environment overrides the file for the pair as a whole; both names in one layer are a fault. White space
    /// around the secret is removed, wherever it comes from; white space or quotes that cannot belong to it are a
    /// fault.
    package func secret(_ key: SettingKey, _ form: SecretForm = .token) -> StatedSecret? {
        let direct = setting(key)
        let path = setting(key.ofFile)
        switch (direct, path) {
        case (nil, nil): return nil
        case (let direct?, nil): return value(of: direct, key, form)
        case (nil, let path?): return contents(of: path, key.ofFile, form)
        case (let direct?, let path?):
            switch (direct.origin, path.origin) {
            case (.environment, .file):
                return value(of: direct, key, form)
            case (.file, .environment):
                return contents(of: path, key.ofFile, form)
            default:
                report(key.ofFile, at: path.origin, "stands beside \(key.joined(separator: ".")); keep one of the two")
                return nil
            }
        }
    }

    /// The secret in the setting's own value.
    private func value(of setting: StatedValue, _ key: SettingKey, _ form: SecretForm) -> StatedSecret? {
        let text = form.read(setting.text)
        guard !text.isEmpty else {
            report(key, at: setting.origin, "must not be empty; give it a value or remove it")
            return nil
        }
        if let flaw = form.flaw(of: text) {
            report(key, at: setting.origin, "must have no \(flaw)")
            return nil
        }
        return StatedSecret(secret: Secret(text), key: key, origin: setting.origin)
    }

    /// The secret in a file.
    ///
    /// The faults of a missing file do not quote its path: an operator may have written the secret itself there.
    package func contents(of setting: StatedValue, _ key: SettingKey, _ form: SecretForm) -> StatedSecret? {
        do throws(TextFile.Unreadable) {
            let path = resolve(setting.text, at: setting.origin)
            let text = form.read(try TextFile.read(path, maximumBytes: 65_536))
            note(Secret(text), in: path, for: key)
            if let flaw = text.isEmpty ? nil : form.flaw(of: text) {
                report(key, at: setting.origin, "must name a file whose secret has no \(flaw); \(path) has such")
            } else if text.hasPlaceholder {
                report(key, at: setting.origin, "must name a file whose secret \(StatedValue.placeholderFault)")
            } else if !text.isEmpty {
                return StatedSecret(secret: Secret(text), key: key, origin: setting.origin, path: path)
            } else {
                report(key, at: setting.origin, "must name a file that is not empty")
            }
        } catch {
            reportUnreadable(key, setting, error)
        }
        return nil
    }

    /// Reports why the file of a setting is unreadable, and the folder of a relative path that does not exist.
    package func reportUnreadable(_ key: SettingKey, _ setting: StatedValue, _ error: TextFile.Unreadable) {
        var message = "must name a readable file; it \(error.reason)"
        if error.isMissing, !setting.text.hasPrefix("/") {
            let start =
                switch setting.origin {
                case .environment: "at the working folder"
                case .file: "at the folder of this file"
                }
            message += "; a relative path begins \(start)"
        }
        report(key, at: setting.origin, message)
    }
}
