// SPDX-License-Identifier: Apache-2.0

import Providers
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
        let policyPath = policyPath(source)
        let keys = KeySettings.read(source)
        let kafka = KafkaSettings.read(source)
        let providers = ProviderSettings.read(source)
        var worker = WorkerSettings.read(source)
        if let time = WorkerSettings.readRetention(source) { worker.retention = time }
        let log = LogSettings.read(source)
        guard let postgres, let policyPath, let keys else { return source.faults.result(nil) }
        return source.faults.result(
            CourierConfiguration(
                kafka: kafka,
                postgres: postgres,
                policyPath: policyPath,
                providers: providers,
                keys: keys,
                worker: worker,
                log: log,
                secretFiles: source.secretFiles,
                unknownVariables: source.unknownVariables
            )
        )
    }

    private static func policyPath(_ source: ConfigurationSource) -> String? {
        let key = ["policy", "path"]
        guard let setting = source.setting(key) else {
            source.reportMissing(key, such: "policy.yaml")
            return nil
        }
        return source.read(key, .text(upTo: 4096)).map { source.resolve($0, at: setting.origin) }
    }
}

extension CourierConfiguration {
    /// Reads only the settings of PostgreSQL: a migration needs no keys.
    static func loadPostgres(
        path: String?,
        environment: [String: String]
    ) -> Result<PostgresSettings, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        return source.faults.result(PostgresSettings.read(source))
    }

    /// Reads only the settings of Kafka, for a command that produces or shows records.
    static func loadKafka(
        path: String?,
        environment: [String: String]
    ) -> Result<KafkaSettings, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        return source.faults.result(KafkaSettings.read(source))
    }

    /// Reads only the ring of hash keys: a verifier has no other keys.
    static func loadHashKeys(
        path: String?,
        environment: [String: String]
    ) -> Result<KeyRing, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        return source.faults.result(KeySettings.readHash(source))
    }

    /// Reads only the ring of fingerprint keys, which a verifier of e-mail links needs beside the hash keys.
    static func loadFingerprintKeys(
        path: String?,
        environment: [String: String]
    ) -> Result<KeyRing, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        return source.faults.result(KeySettings.readFingerprint(source))
    }

    /// Reads only the path of the health file: a probe has no keys.
    ///
    /// Faults elsewhere in the file do not concern the running worker, which read it at its start.
    static func loadHealthPath(
        path: String?,
        environment: [String: String]
    ) -> Result<String, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        let healthPath = WorkerSettings.readHealthPath(source)
        if let healthPath { return .success(healthPath) }
        source.reportMissing(["worker", "healthPath"], such: "/run/code-courier/health")
        return source.faults.result(nil)
    }
}
