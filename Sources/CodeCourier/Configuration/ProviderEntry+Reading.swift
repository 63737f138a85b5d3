// SPDX-License-Identifier: Apache-2.0

import Providers

extension ProviderEntry {
    /// What a rule makes of a key that must be there; otherwise nil, with a fault.
    func required<Value>(
        _ name: String,
        _ rule: ValueRule<Value>,
        such example: String,
        _ source: ConfigurationSource
    ) -> Value? {
        source.reportMissing(key + [name], such: example, line: mapping.value.line)
        return source.read(key + [name], rule)
    }

    /// A secret that must be there, as itself or as a file; otherwise nil, with a fault.
    func requiredSecret(
        _ name: String,
        _ form: SecretForm = .token,
        such example: String,
        _ source: ConfigurationSource
    ) -> ConfigurationSource.SecretSetting? {
        let secret = source.secret(key + [name], form)
        if secret == nil { source.reportMissing(key + [name], such: example, line: mapping.value.line) }
        return secret
    }

    /// What a rule makes of a key that may be left out.
    func optional<Value>(_ name: String, _ rule: ValueRule<Value>, _ source: ConfigurationSource) -> Value? {
        source.read(key + [name], rule)
    }

    /// Whether a key is there, in the file or in the environment, as itself or as a file.
    func has(_ name: String, _ source: ConfigurationSource) -> Bool {
        [key + [name], ConfigurationSource.fileKey(of: key + [name])].contains { source.setting($0) != nil }
    }

    /// Notes what is wrong with a key where it stands.
    func fault(_ name: String, _ message: String, _ source: ConfigurationSource) {
        guard let setting = source.setting(key + [name]) else { return mapping.value.fault(message) }
        source.report(key + [name], at: setting.origin, message)
    }
}
