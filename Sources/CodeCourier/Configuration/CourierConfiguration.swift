// SPDX-License-Identifier: Apache-2.0

import Providers
import SettingsReading
import Verification

/// The configuration of a worker at its start: a YAML file, overridden by environment variables.
struct CourierConfiguration: Sendable {
    let kafka: KafkaSettings
    let postgres: PostgresSettings

    /// The path of the policy file; a relative path in the configuration file starts at that file's folder.
    let policyPath: String

    /// At least one, with unique names.
    let providers: [ProviderSettings]
    let keys: CodeKeys
    let worker: WorkerSettings
    let log: LogSettings

    /// The contents of the files named by `…File` keys of `keys` and `providers`, by path.
    var secretFiles: [String: Secret] = [:]

    /// The environment variables that resemble a key's variable but match no key.
    var unknownVariables: [UnknownVariable] = []

    /// Reads the whole configuration; without a path, from the environment alone.
    static func load(
        path: String?,
        environment: [String: String]
    ) -> Result<CourierConfiguration, ConfigurationFaults> {
        read(ConfigurationSource(path: path, environment: environment))
    }

    /// Reads all sections, so that the faults of all of them are reported at once.
    static func read(_ source: ConfigurationSource) -> Result<CourierConfiguration, ConfigurationFaults> {
        let postgres = PostgresSettings.read(source)
        let settings = Settings.read(source)
        if settings.policyPath == nil { source.reportMissing(["policy", "path"], such: "policy.yaml") }
        let keys = KeySettings.read(source)
        let providers = [ProviderSettings].read(source)
        guard let postgres, let policyPath = settings.policyPath, let keys else { return source.faults.result(nil) }
        return source.faults.result(
            CourierConfiguration(
                kafka: settings.kafka,
                postgres: postgres,
                policyPath: policyPath,
                providers: providers,
                keys: keys,
                worker: settings.worker,
                log: settings.log,
                secretFiles: source.secretFiles,
                unknownVariables: source.unknownVariables
            )
        )
    }
}

extension CourierConfiguration {
    /// Reads only the part that a command needs: a migration has no keys, and a verifier only those of hashes.
    static func load<Part>(
        path: String?,
        environment: [String: String],
        _ read: (ConfigurationSource) -> Part?
    ) -> Result<Part, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        return source.faults.result(read(source))
    }

    /// Reads only the path of the health file: a probe has no keys.
    ///
    /// Faults elsewhere in the file do not concern the running worker, which read it at its start.
    static func loadHealthPath(
        path: String?,
        environment: [String: String]
    ) -> Result<String, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        let key = ["worker", "healthPath"]
        if let path = source.path(key) { return .success(path) }
        source.reportMissing(key, such: "/run/code-courier/health")
        return source.faults.result(nil)
    }
}
