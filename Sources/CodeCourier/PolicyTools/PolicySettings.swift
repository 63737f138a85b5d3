// SPDX-License-Identifier: Apache-2.0

import Providers
import SettingsReading
import Verification

/// The settings that the policy commands use; they need no database, keys or credentials.
struct PolicySettings {
    /// The channels of the configured providers by name; nil without a configuration file.
    var providers: [String: Channel]?

    /// The policy in force; nil when the configuration names none.
    var policyPath: String?
    var maxRequestAge = WorkerSettings().maxRequestAge

    static func load(
        path: String?,
        environment: [String: String]
    ) -> Result<PolicySettings, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        return source.faults.result(read(source))
    }

    static func read(_ source: ConfigurationSource) -> PolicySettings {
        var settings = PolicySettings()
        if source.hasFile { settings.providers = source.file.providers.channels }
        let read = Settings.read(source, ["policy", "worker"])
        settings.policyPath = read.policyPath
        settings.maxRequestAge = read.worker.maxRequestAge
        return settings
    }
}

extension ConfigurationSource {
    /// Reports faults of the providers' settings except secrets, which do not exist where a policy is written.
    func checkProviders() {
        _ = [ProviderSettings].read(self)
        faults.remove(where: file.providers.isOfSecret)
    }
}

extension [ProviderEntry] {
    /// True for a fault of a setting that may be given as the path of a file.
    fileprivate func isOfSecret(_ fault: ConfigurationFault) -> Bool {
        let name = fault.key.split(separator: ".").last.map(String.init) ?? ""
        return contains { entry in entry.keys.contains(name.hasSuffix("File") ? name : "\(name)File") }
    }
}

extension CodeKeys {
    /// Random keys that exist only in this process, so that codes of a simulation or demonstration are worthless
    /// elsewhere.
    static func throwAway() -> CodeKeys {
        CodeKeys(code: .random(), hash: .random(), fingerprint: .random(), seal: .random())
    }
}

extension KeyRing {
    fileprivate static func random() -> KeyRing {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        guard let ring = KeyRing([(KeyID(1), bytes)]) else { preconditionFailure("32 bytes make a ring") }
        return ring
    }
}
