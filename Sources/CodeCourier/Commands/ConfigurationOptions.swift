// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Providers
import SettingsReading
import Verification

/// The options that locate a command's configuration.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The configuration file (YAML).", valueName: "courier.yaml")
    )
    var config: String?

    var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The database of the option, or else of the configuration.
    func databaseURL(or given: String?) throws -> String {
        if let given { return try Self.databaseURL(given) }
        return try read(PostgresSettings.read).url.revealed
    }

    /// Reads the part of the configuration that a command needs, or prints its faults and throws.
    func read<Part>(_ read: (ConfigurationSource) -> Part?) throws -> Part {
        try StartFailure.unwrap(CourierConfiguration.load(path: config, environment: environment, read))
    }

    /// The value of `--postgres-url`, checked by the rule for `postgres.url`.
    static func databaseURL(_ given: String) throws -> String {
        if let url = ValueRule.database.parse(given) { return url }
        throw StartFailure.report(["--postgres-url: \(ValueRule.database.requirement)"])
    }
}

/// A failed start: one line for each fault on standard error, exit code 2.
enum StartFailure {
    /// Prints the faults and returns the error to throw.
    static func report(_ faults: [some CustomStringConvertible]) -> ExitCode {
        for fault in faults {
            printError("code-courier: \(fault)")
        }
        return ExitCode(2)
    }

    /// Returns the value, or prints the faults and throws.
    static func unwrap<Value>(_ result: Result<Value, ConfigurationFaults>) throws -> Value {
        switch result {
        case .success(let value): return value
        case .failure(let faults): throw report(faults.faults)
        }
    }
}

/// The options that locate Kafka.
struct KafkaOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions

    @Option(help: ArgumentHelp("Kafka's brokers; default: those of the configuration.", valueName: "host:port"))
    var bootstrapServers: String?

    /// The configuration's settings, with the brokers of the command line.
    func settings() throws -> KafkaSettings {
        var environment = options.environment
        if let bootstrapServers, ValueRule.servers.parse(bootstrapServers) == nil {
            throw StartFailure.report(["--bootstrap-servers: \(ValueRule.servers.requirement)"])
        }
        if let bootstrapServers { environment["KAFKA_BOOTSTRAP_SERVERS"] = bootstrapServers }
        return try StartFailure.unwrap(
            CourierConfiguration.load(path: options.config, environment: environment, KafkaSettings.read)
        )
    }
}
