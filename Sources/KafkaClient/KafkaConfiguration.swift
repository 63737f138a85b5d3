// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// The address and options of a cluster.
package struct KafkaConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    /// Comma-separated `host:port` of some brokers.
    package var bootstrapServers: String

    /// librdkafka's own options, for TLS, SASL and tuning, by their names in its manual.
    ///
    /// They override this package's defaults. An option that would break a guarantee is refused (`refusedOptions`).
    package var options: [String: String]

    package init(bootstrapServers: String, options: [String: String] = [:]) {
        self.bootstrapServers = bootstrapServers
        self.options = options
    }

    /// Options that the operator cannot set, since the guarantees of this package depend on them.
    package static let refusedOptions: Set<String> = [
        "acks", "auto.offset.reset", "bootstrap.servers", "client.id", "enable.auto.commit", "enable.auto.offset.store",
        "enable.idempotence", "enable.partition.eof", "group.id", "group.instance.id", "group.protocol",
        "isolation.level", "log.queue", "max.in.flight", "max.in.flight.requests.per.connection",
        "metadata.broker.list", "partition.assignment.strategy", "partitioner", "plugin.library.paths",
        "request.required.acks", "test.mock.num.brokers", "transactional.id",
    ]

    /// The reason why librdkafka refuses an option, as far as it is known without a client; nil when it accepts it.
    package static func refusal(of name: String, _ value: String) -> OptionRefusal? {
        (try? ClientOptions())?.set(name, to: value)
    }

    package enum OptionRefusal: Sendable {
        case unknownName, invalidValue

        /// A number with other text around it, of which librdkafka would read a part and ignore the rest.
        case notInteger
    }

    /// The client name in brokers' logs and groups; short, since librdkafka below 2.5 reads past a long one.
    static let clientID = "code-courier"

    /// All options of a client: `fixed` overrides the operator's options, which override `defaults`.
    package func settings(
        defaults: [String: String],
        fixed: [String: String]
    ) throws(KafkaError) -> [String: String] {
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
    /// A dead connection, such as one that a firewall dropped silently, is detected by an unanswered request: the
    /// clients request metadata every 5 s, and wait 10 s for an answer. The same request finds new partitions and
    /// topics.
    private static let commonDefaults = [
        "reconnect.backoff.max.ms": "2000",
        "socket.keepalive.enable": "true",
        "socket.timeout.ms": "10000",
        "topic.metadata.refresh.interval.ms": "5000",
    ]

    /// Lists no values of options, since some are passwords.
    package var description: String {
        "KafkaConfiguration(\(bootstrapServers), options: \(options.keys.sorted().joined(separator: ", ")))"
    }

    package var customMirror: Mirror { Mirror(self, children: ["bootstrapServers": bootstrapServers]) }
}

/// The version of the loaded librdkafka, as in `2.0.2`.
// SAFETY: the answer is a static string of the library.
package let librdkafkaVersion = unsafe rd_kafka_version_str().map { unsafe String(cString: $0) } ?? "unknown"

/// A version of librdkafka in the library's numbering: a byte each for major, minor and revision.
package struct LibraryVersion: Comparable, Sendable {
    private let number: Int32

    package init(_ major: Int32, _ minor: Int32, _ revision: Int32) {
        number = major << 24 | minor << 16 | revision << 8
    }

    package static let loaded = LibraryVersion(number: rd_kafka_version())

    /// The first version whose SCRAM works with Kafka 4 (librdkafka's change log, 2.6.1).
    package static let scramWithKafka4 = LibraryVersion(2, 6, 1)

    /// Clears the last byte, which marks pre-releases: they count as their release.
    private init(number: Int32) {
        self.number = number & ~0xff
    }

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.number < rhs.number }
}
