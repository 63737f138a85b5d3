// SPDX-License-Identifier: Apache-2.0

/// How to reach a cluster.
package struct KafkaConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    /// Comma-separated `host:port` of some brokers.
    package var bootstrapServers: String

    /// librdkafka's own options, for TLS, SASL and tuning, by their names in its manual.
    ///
    /// They win over this package's defaults. An option that would break a promise is refused (`refusedOptions`).
    package var options: [String: String]

    package init(bootstrapServers: String, options: [String: String] = [:]) {
        self.bootstrapServers = bootstrapServers
        self.options = options
    }

    /// Options that are not the operator's to set: the promises of this package rest on them.
    package static let refusedOptions: Set<String> = [
        "acks", "auto.offset.reset", "bootstrap.servers", "client.id", "enable.auto.commit", "enable.auto.offset.store",
        "enable.idempotence", "enable.partition.eof", "group.id", "group.instance.id", "group.protocol",
        "isolation.level", "log.queue", "max.in.flight", "max.in.flight.requests.per.connection",
        "metadata.broker.list", "partition.assignment.strategy", "partitioner", "plugin.library.paths",
        "request.required.acks", "test.mock.num.brokers", "transactional.id",
    ]

    /// Why librdkafka takes no option of this name and value, as far as it tells before there is a client; nil when it does.
    package static func refusal(of name: String, _ value: String) -> OptionRefusal? {
        (try? ClientOptions())?.set(name, to: value)
    }

    package enum OptionRefusal: Sendable {
        case unknownName, invalidValue

        /// A number with something else around it, of which librdkafka would take a part and drop the rest.
        case noWholeNumber
    }

    /// Clients as brokers name them in their logs and groups; short, since librdkafka below 2.5 reads past a long one.
    static let clientID = "code-courier"

    /// All options of a client, defaults under the operator's under what is fixed.
    func settings(defaults: [String: String], fixed: [String: String]) throws(KafkaError) -> [String: String] {
        if let refused = options.keys.sorted().first(where: { Self.refusedOptions.contains($0) }) {
            throw KafkaError(.invalidArgument, option: refused)
        }
        var settings = Self.commonDefaults
        settings.merge(defaults) { $1 }
        settings.merge(options) { $1 }
        settings.merge(fixed) { $1 }
        settings["bootstrap.servers"] = bootstrapServers
        settings["client.id"] = Self.clientID
        return settings
    }

    /// Defaults of all clients.
    ///
    /// A connection that died without a word, as behind a firewall that forgot it, is found by the request that gets no
    /// answer: the clients ask for metadata every 5 s, and wait 10 s for an answer. A partition or a topic that is made
    /// later is found by the same request.
    private static let commonDefaults = [
        "reconnect.backoff.max.ms": "2000",
        "socket.keepalive.enable": "true",
        "socket.timeout.ms": "10000",
        "topic.metadata.refresh.interval.ms": "5000",
    ]

    /// Not the options' values, among which are passwords.
    package var description: String {
        "KafkaConfiguration(\(bootstrapServers), options: \(options.keys.sorted().joined(separator: ", ")))"
    }

    package var customMirror: Mirror { Mirror(self, children: ["bootstrapServers": bootstrapServers]) }
}
