// SPDX-License-Identifier: Apache-2.0

import Providers

extension ProviderEntry {
    /// The value of a required key, parsed by a rule; nil, with a fault, when it is missing or invalid.
    func required<Value>(
        _ name: String,
        _ rule: ValueRule<Value>,
        such example: String,
        _ source: ConfigurationSource
    ) -> Value? {
        source.reportMissing(key + [name], such: example, line: mapping.value.line)
        return source.read(key + [name], rule)
    }

    /// A required secret, as a value or from a file; nil, with a fault, when it is missing or invalid.
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

    /// The value of an optional key, parsed by a rule.
    func optional<Value>(_ name: String, _ rule: ValueRule<Value>, _ source: ConfigurationSource) -> Value? {
        source.read(key + [name], rule)
    }

    /// True when a key is set, in the file or in the environment, as a value or as a file.
    func has(_ name: String, _ source: ConfigurationSource) -> Bool {
        [key + [name], ConfigurationSource.fileKey(of: key + [name])].contains { source.setting($0) != nil }
    }

    /// Reports a fault at the location of a key.
    func fault(_ name: String, _ message: String, _ source: ConfigurationSource) {
        guard let setting = source.setting(key + [name]) else { return mapping.value.fault(message) }
        source.report(key + [name], at: setting.origin, message)
    }
}
