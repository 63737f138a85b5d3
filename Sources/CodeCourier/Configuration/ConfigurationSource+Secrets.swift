// SPDX-License-Identifier: Apache-2.0

import Providers

extension ConfigurationSource {
    /// A secret with the place it came from, for the faults of its parser.
    struct SecretSetting {
        let secret: Secret
        let key: SettingKey
        let origin: Origin

        /// The file that holds it, where one does.
        var path: String?
    }

    /// A secret given as `key` or, as the path of a file that holds it, as `keyFile`.
    ///
    /// The environment wins over the file for the pair as a whole; both names in one layer are a fault. What stands around
    /// the secret is dropped, wherever it is from, and what is wrong inside it is a fault.
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

    /// The sections whose files are not watched: Kafka's clients connect with the secrets of a worker's start until it ends,
    /// and PostgreSQL's read theirs at each connection.
    private static let sectionsOfStart: Set = ["kafka", "postgres"]

    /// The key under which a secret is given as a file: `keys.codeFile` for `keys.code`.
    static func fileKey(of key: SettingKey) -> SettingKey {
        Array(key.dropLast()) + key.suffix(1).map { "\($0)File" }
    }

    /// The secret that stands in a setting itself.
    private func value(of setting: Setting, _ key: SettingKey, _ form: SecretForm) -> SecretSetting? {
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

    /// The secret that a file holds.
    ///
    /// Its path stays out of the faults of a file that is not there: an operator may have put the secret itself there.
    func contents(of setting: Setting, _ key: SettingKey, _ form: SecretForm) -> SecretSetting? {
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

    /// Notes why the file that a setting names gives no text, and where its path begins if it is not found there.
    func reportUnreadable(_ key: SettingKey, _ setting: Setting, _ error: TextFile.Unreadable) {
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
