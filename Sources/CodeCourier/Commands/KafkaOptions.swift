// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

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
        return try StartFailure.unwrap(CourierConfiguration.loadKafka(path: options.config, environment: environment))
    }
}
