// SPDX-License-Identifier: Apache-2.0

import Providers

extension ConfigurationSource {
    /// A secret with its origin, which later faults refer to.
    struct SecretSetting {
        let secret: Secret
        let key: SettingKey
        let origin: Origin

        /// The file that holds the secret; nil for a direct value.
        var path: String?
    }

    /// Reads a secret given as `key`, or as `keyFile`, the path of a file that holds it.
    ///
    /// The environment overrides the file for the pair as a whole; both names in one layer are a fault. White space
    /// around the secret is removed, wherever it comes from; white space or quotes that cannot belong to it are a
    /// fault.
    func secret(_ key: SettingKey, _ form: SecretForm = .token) -> SecretSetting? {
        let fileKey = Self.fileKey(of: key)
        let direct = setting(key)
        let path = setting(fileKey)
        switch (direct, path) {
        case (nil, nil): return nil
        case (let direct?, nil): return value(of: direct, key, form)
        case (nil, let path?): return contents(of: path, fileKey, form)
        case (let direct?, let path?):
            switch (direct.origin, path.origin) {
            case (.environment, .file):
                return value(of: direct, key, form)
            case (.file, .environment):
                return contents(of: path, fileKey, form)
            default:
                report(fileKey, at: path.origin, "stands beside \(key.joined(separator: ".")); keep one of the two")
                return nil
            }
        }
    }

    /// The sections whose secret files are not watched.
    ///
    /// Kafka's clients keep the secrets of the worker's start, and PostgreSQL's connections read their file each time
    /// they connect.
    private static let sectionsOfStart: Set = ["kafka", "postgres"]

    /// The key for a secret's file: `keys.codeFile` for `keys.code`.
    static func fileKey(of key: SettingKey) -> SettingKey {
        Array(key.dropLast()) + key.suffix(1).map { "\($0)File" }
    }

    /// The secret in the setting's own value.
    private func value(of setting: Scalar, _ key: SettingKey, _ form: SecretForm) -> SecretSetting? {
        let text = form.read(setting.text)
        guard !text.isEmpty else {
            report(key, at: setting.origin, "must not be empty; give it a value or remove it")
            return nil
        }
        if let flaw = form.flaw(of: text) {
            report(key, at: setting.origin, "must have no \(flaw)")
            return nil
        }
        return SecretSetting(secret: Secret(text), key: key, origin: setting.origin)
    }

    /// The secret in a file.
    ///
    /// The faults of a missing file do not quote its path: an operator may have written the secret itself there.
    func contents(of setting: Scalar, _ key: SettingKey, _ form: SecretForm) -> SecretSetting? {
        do throws(TextFile.Unreadable) {
            let path = resolve(setting.text, at: setting.origin)
            let text = form.read(try TextFile.read(path, maximumBytes: 65_536))
            if !Self.sectionsOfStart.contains(key[0]) { secretFiles[path] = Secret(text) }
            if let flaw = text.isEmpty ? nil : form.flaw(of: text) {
                report(key, at: setting.origin, "must name a file whose secret has no \(flaw); \(path) has such")
            } else if text.hasPlaceholder {
                report(key, at: setting.origin, "must name a file whose secret \(Self.placeholderFault)")
            } else if !text.isEmpty {
                return SecretSetting(secret: Secret(text), key: key, origin: setting.origin, path: path)
            } else {
                report(key, at: setting.origin, "must name a file that is not empty")
            }
        } catch {
            reportUnreadable(key, setting, error)
        }
        return nil
    }

    /// Reports why the file of a setting is unreadable, and the folder of a relative path that does not exist.
    func reportUnreadable(_ key: SettingKey, _ setting: Scalar, _ error: TextFile.Unreadable) {
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

extension ConfigurationSource {
    /// The path of a PEM file with certificate authorities, checked to be readable and valid.
    func authorities(_ key: SettingKey) -> String? {
        guard let setting = setting(key) else { return nil }
        let path = resolve(setting.text, at: setting.origin)
        do throws(TextFile.Unreadable) {
            let text = try TextFile.read(path, maximumBytes: 4_194_304)
            if CertificateText.isWhole(text) { return path }
            report(key, at: setting.origin, "must name a file with certificates in PEM, each of them whole")
        } catch {
            reportUnreadable(key, setting, error)
        }
        return nil
    }
}
