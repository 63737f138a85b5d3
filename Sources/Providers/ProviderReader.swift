// SPDX-License-Identifier: Apache-2.0

package import SettingsReading
import Verification

/// Reads the settings of one provider from the file and from variables; its faults name file, line and key.
package struct ProviderReader {
    private let entry: ProviderEntry
    private let source: any SettingSource

    package init(_ entry: ProviderEntry, _ source: any SettingSource) {
        (self.entry, self.source) = (entry, source)
    }

    /// The provider's name.
    var name: String { entry.name }

    /// The text of a key, before any rule.
    func setting(_ name: String) -> StatedValue? {
        source.setting(entry.key + [name])
    }

    /// True when a key is set, as a value or as a file.
    func has(_ name: String) -> Bool {
        setting(name) != nil || source.setting((entry.key + [name]).ofFile) != nil
    }

    /// The value of an optional key, parsed by a rule; nil when it is absent or, with a fault, when it is invalid.
    func optional<Value>(_ name: String, _ rule: ValueRule<Value>) -> Value? {
        source.read(entry.key + [name], rule)
    }

    /// The value of a required key, parsed by a rule; nil, with a fault, when it is missing or invalid.
    func required<Value>(_ name: String, _ rule: ValueRule<Value>, such example: String) -> Value? {
        reportMissing(name, such: example)
        return optional(name, rule)
    }

    /// An optional secret, as a value or from a file.
    func secret(_ name: String, _ form: SecretForm = .token) -> StatedSecret? {
        source.secret(entry.key + [name], form)
    }

    /// A required secret, as a value or from a file; nil, with a fault, when it is missing or invalid.
    func requiredSecret(_ name: String, _ form: SecretForm = .token, such example: String) -> StatedSecret? {
        let secret = secret(name, form)
        if secret == nil { reportMissing(name, such: example) }
        return secret
    }

    /// The secret in the file that one line of a structure names.
    func contents(of value: YAMLValue, _ path: String, called name: String) -> StatedSecret? {
        source.contents(of: StatedValue(text: path, origin: .file(value)), [name], .phrase)
    }

    /// The value of a key that only the file can set.
    func structure(_ name: String) -> YAMLValue? { entry.mapping[name] }

    /// Reports a missing key, unless it is set.
    func reportMissing(_ name: String, such example: String) {
        source.reportMissing(entry.key + [name], such: example, line: entry.mapping.value.line)
    }

    /// Reports a fault of a key's value, or of the whole provider where the key is not set.
    func fault(_ name: String, _ message: String) {
        guard let setting = setting(name) else { return entry.mapping.value.fault(message) }
        source.report(entry.key + [name], at: setting.origin, message)
    }

    /// Reports a fault of a secret, at its value or its file.
    func fault(_ secret: StatedSecret, _ message: String) {
        source.report(secret.key, at: secret.origin, message)
    }
}

// MARK: - Settings of several kinds

extension ProviderReader {
    /// The path of a PEM file with certificate authorities, checked to be readable and valid.
    func authorities() -> String? {
        guard let setting = setting("caFile") else { return nil }
        let path = source.resolve(setting.text, at: setting.origin)
        do throws(TextFile.Unreadable) {
            if CertificateText.isWhole(try TextFile.read(path, maximumBytes: 4_194_304)) { return path }
            fault("caFile", "must name a file with certificates in PEM, each of them whole")
        } catch {
            source.reportUnreadable(entry.key + ["caFile"], setting, error)
        }
        return nil
    }

    /// The options of connections to an HTTP provider; nil where none is set.
    func connection() -> ConnectionOptions? {
        ConnectionOptions(authorities: authorities(), identity: identity(), proxy: proxy())
    }

    private func identity() -> ClientIdentity? {
        let key = secret("clientKey", .lines)
        guard let certificate = secret("clientCertificate", .lines) else {
            if key != nil { reportMissing("clientCertificate", such: "clientCertificateFile: /run/secrets/client.pem") }
            return nil
        }
        if let identity = ClientIdentity(certificate: certificate.secret, key: key?.secret) { return identity }
        fault(certificate, "must be a certificate in PEM, with its key in the same text or as clientKey")
        return nil
    }

    /// The proxy of calls; nil where none is set.
    func proxy() -> ProxyAddress? {
        guard let setting = secret("proxy") else { return nil }
        if let proxy = ProxyAddress(setting.secret.revealed) { return proxy }
        fault(setting, "must be the address of an HTTP proxy, such as http://proxy.example.com:3128")
        return nil
    }
}

extension ValueRule where Value == String {
    /// The sender of a text message, valid for Twilio and Vonage.
    ///
    /// Networks truncate or reject a name of more than 11 characters. To Twilio, a colon marks another kind of sender.
    static var sender: Self {
        let requirement = """
            must be a phone number such as "+15005550006" or a short code, in quotes, or a name of 1 to 11 letters, digits \
            and blanks
            """
        return Self(requirement: requirement) { text in
            guard let text = ValueRule.text(upTo: 64).parse(text), !text.contains(":") else {
                return ValueRule.text(upTo: 64).parse(text)
            }
            if text.contains(where: \.isLetter) {
                return text.count <= 11 && text.utf8.allSatisfy { $0 < 0x80 } ? text : nil
            }
            let digits = text.hasPrefix("+") ? text.dropFirst() : text[...]
            return (3...15).contains(digits.utf8.count) && digits.allSatisfy { $0.isASCII && $0.isNumber } ? text : nil
        }
    }
}
