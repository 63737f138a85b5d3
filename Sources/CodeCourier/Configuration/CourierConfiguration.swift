// SPDX-License-Identifier: Apache-2.0

import Providers
import Verification

/// Everything that a worker is told at its start: a YAML file, overridden by environment variables.
struct CourierConfiguration: Sendable {
    let kafka: KafkaSettings
    let postgres: PostgresSettings

    /// Where the policy file is; a relative path in the file is taken from the file's own folder.
    let policyPath: String

    /// At least one, with different names.
    let providers: [ProviderSettings]
    let keys: CodeKeys
    let worker: WorkerSettings
    let log: LogSettings

    /// What the files hold that `…File` keys of `keys` and `providers` name, by their paths.
    var secretFiles: [String: Secret] = [:]

    /// The environment's variables that look like a key's and are none.
    var unknownVariables: [UnknownVariable] = []

    /// Reads the whole configuration; without a path, from the environment alone.
    static func load(
        path: String?,
        environment: [String: String]
    ) -> Result<CourierConfiguration, ConfigurationFaults> {
        read(ConfigurationSource(path: path, environment: environment))
    }

    /// Reads all sections, so that the faults of all come out at once.
    static func read(_ source: ConfigurationSource) -> Result<CourierConfiguration, ConfigurationFaults> {
        let postgres = PostgresSettings.read(source)
        let policyPath = policyPath(source)
        let keys = KeySettings.read(source)
        let kafka = KafkaSettings.read(source)
        let providers = ProviderSettings.read(source)
        let worker = WorkerSettings.read(source)
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
    /// Reads only how PostgreSQL is reached: what a migration needs, which is given no keys.
    static func loadPostgres(
        path: String?,
        environment: [String: String]
    ) -> Result<PostgresSettings, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        return source.faults.result(PostgresSettings.read(source))
    }

    /// Reads only how Kafka is reached: what a command needs that produces or shows records.
    static func loadKafka(
        path: String?,
        environment: [String: String]
    ) -> Result<KafkaSettings, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        return source.faults.result(KafkaSettings.read(source))
    }

    /// Reads only the ring of hash keys: what a verifier needs, which is given no others.
    static func loadHashKeys(
        path: String?,
        environment: [String: String]
    ) -> Result<KeyRing, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        return source.faults.result(KeySettings.readHash(source))
    }

    /// Reads only the ring of fingerprint keys: what a verifier of e-mail links needs beside the hash keys.
    static func loadFingerprintKeys(
        path: String?,
        environment: [String: String]
    ) -> Result<KeyRing, ConfigurationFaults> {
        let source = ConfigurationSource(path: path, environment: environment)
        return source.faults.result(KeySettings.readFingerprint(source))
    }

    /// Reads only where a worker writes its state: what a probe needs, which is given no keys.
    ///
    /// A fault elsewhere in the file is not the running worker's, which read it at its start.
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
