// SPDX-License-Identifier: Apache-2.0

/// What the policy commands take from a configuration; they need no database, no keys and no credentials.
struct PolicySettings {
    /// The names of the configured providers; nil without a configuration file.
    var providers: Set<String>?

    /// The policy in force; nil when the configuration names none.
    var policyPath: String?
    var maxRequestAge = WorkerSettings().maxRequestAge

    static func load(
        path: String?,
        environment: [String: String]
    ) -> Result<PolicySettings, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        var settings = PolicySettings()
        if path != nil { settings.providers = Set(source.file.providers.map(\.name)) }
        if let setting = source.setting(["policy", "path"]) {
            settings.policyPath = source.resolve(setting.text, at: setting.origin)
        }
        settings.maxRequestAge = WorkerSettings.read(source).maxRequestAge
        return source.faults.result(settings)
    }
}
