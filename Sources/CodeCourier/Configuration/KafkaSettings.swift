// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import KafkaTools
import Providers
import SettingsReading
import Verification

/// Settings of Kafka: brokers, group, topics and client options.
struct KafkaSettings: Sendable {
    struct Topics: Sendable, Equatable {
        var requests = "verification.requests"
        var receipts = "verification.receipts"
        var deliveries = "verification.deliveries"
        var deadLetters = "verification.dead-letters"
    }

    /// `host:port[,host:port…]`.
    var bootstrapServers = "127.0.0.1:9092"
    var groupID = "code-courier"
    var topics = Topics()

    /// librdkafka's properties by their own names, such as `security.protocol`; any value may be a secret.
    var options: [String: Secret] = [:]
}

extension KafkaSettings {
    /// The advice for options that set longer retries: the watchdog would end a worker whose publishing stalls that
    /// long.
    private static let keepsTrying = "code-courier tries for 30 s, and again from the outbox after it; remove it"

    /// The properties that have a key of their own or that a guarantee depends on, with the advice for each.
    private static let reserved = KafkaConfiguration.refusedOptions.reduce(into: advice) { reserved, name in
        reserved[name] = reserved[name] ?? "code-courier sets it; remove it"
    }

    private static let advice = [
        "bootstrap.servers": "use kafka.bootstrapServers instead",
        "metadata.broker.list": "use kafka.bootstrapServers instead",
        "group.id": "use kafka.groupId instead",
        "group.instance.id": "all workers read this file, but each needs another id; remove it",
        "isolation.level": "code-courier reads only committed records; remove it",
        "partitioner": "code-courier keeps the events of a verification on one partition; remove it",
        "enable.auto.commit": "offsets are committed by code-courier; remove it",
        "enable.auto.offset.store": "offsets are committed by code-courier; remove it",
        "enable.idempotence": "code-courier always sets it; remove it",
        "acks": "code-courier always waits for all replicas; remove it",
        "request.required.acks": "code-courier always waits for all replicas; remove it",
        "delivery.timeout.ms": keepsTrying,
        "message.timeout.ms": keepsTrying,
    ]

    static func read(_ source: ConfigurationSource) -> KafkaSettings? { Settings.read(source, ["kafka"]).kafka }

    /// The schema of the options.
    static let optionsSchema = #"""
        "type":"object","propertyNames":{"pattern":"^[a-z0-9._-]+(File)?$"},\#
        "additionalProperties":{"type":["string","number","boolean"]}
        """#

    /// Reads the options, from the file alone: `KAFKA_OPTIONS_SESSION_TIMEOUT_MS` would not show where the dots are.
    ///
    /// Such a variable is a fault, for a worker that silently ignored a security option could connect in clear text. A
    /// secret among the options may come from a file, as `sasl.passwordFile`.
    static func options(_ source: ConfigurationSource) -> [String: Secret] {
        for variable in source.variableNames where variable.hasPrefix("KAFKA_OPTIONS_") {
            let advice = "write it there, such as security.protocol: SASL_SSL, and unset the variable"
            let message = "cannot be set here: options come from the file only; \(advice)"
            source.faults.report(variable: variable, key: "kafka.options", message)
        }
        guard let value = source.file.structures[["kafka", "options"]] else { return [:] }
        var options: [String: Secret] = [:]
        for (name, option) in value.entries(.optionName, called: "an option") ?? [] {
            guard let text = option.scalarText else {
                report(option, of: value)
                continue
            }
            let isPath = name.hasSuffix("File")
            let key = isPath ? String(name.dropLast(4)) : name
            let setting = StatedValue(text: text, origin: .file(option))
            let file = isPath ? source.contents(of: setting, ["kafka", "options", name], form(of: key)) : nil
            let secret = isPath ? file?.secret : Secret(form(of: key).read(text))
            if let advice = reserved[key] {
                option.fault("cannot be set here: \(advice)")
            } else if let advice = adviceInPlaceOfJava(key) {
                option.fault(advice)
            } else if let secret, secret.revealed.hasPlaceholder {
                option.fault(StatedValue.placeholderFault)
            } else if let secret, let fault = faultOfFile(key, secret.revealed) {
                option.fault(fault)
            } else if let secret, let refusal = KafkaConfiguration.refusal(of: key, secret.revealed) {
                option.fault(requirement(refusal))
            }
            if options.updateValue(secret ?? Secret(""), forKey: key) != nil {
                option.fault("is given both as \(key) and as \(key)File; keep one of the two")
            }
        }
        return options
    }

    /// The form of an option's value: PEM has lines, and `sasl.oauthbearer.config` has blanks.
    private static func form(of option: String) -> SecretForm { option.hasSuffix(".pem") ? .lines : .phrase }

    /// True when SCRAM is configured and this library fails at it with Kafka 4, which then reports a wrong password.
    func needsNewerLibrary(than library: LibraryVersion) -> Bool {
        let mechanism = options["sasl.mechanism"] ?? options["sasl.mechanisms"]
        return mechanism?.revealed.uppercased().hasPrefix("SCRAM") == true && library < .scramWithKafka4
    }

    private static func requirement(_ refusal: KafkaConfiguration.OptionRefusal) -> String {
        switch refusal {
        case .unknownName: "is none of librdkafka's options"
        case .invalidValue: "is an option that librdkafka does not take this value for"
        case .notInteger: "must be a whole number without a unit, such as 10000 for ten seconds in an option in ms"
        }
    }

    /// Reports a faulty option; a name without a value may be the rest of an unquoted secret, so it is not quoted.
    private static func report(_ option: YAMLValue, of options: YAMLValue) {
        if option.isNull {
            let message = "has an option without a value; quote a value that holds a comma or a colon"
            option.faults.report(line: option.line, key: options.path, message)
        } else {
            option.fault("must be a single value; write the option's whole name, such as `sasl.mechanism`")
        }
    }
}

extension KafkaSettings {
    /// Differences from the topics that a worker needs, one sentence each.
    ///
    /// A worker starts nevertheless: topics can be made and changed while it runs.
    func topicWarnings() async -> [String] {
        let timed = [topics.requests, topics.receipts]
        var warnings: [String] = []
        for topic in timed + [topics.deliveries, topics.deadLetters] {
            do throws(KafkaError) {
                let type = try await KafkaAdmin.setting("message.timestamp.type", of: topic, configuration: client)
                guard timed.contains(topic), let type, type != "LogAppendTime" else { continue }
                warnings.append(
                    "records of \(topic) carry their producers' times: kafka-configs.sh --alter --topic \(topic)"
                        + " --add-config message.timestamp.type=LogAppendTime"
                )
            } catch {
                warnings.append("\(KafkaFault(error))")
                // The other topics are behind the same brokers.
                guard error.reason == .topicMissing else { break }
            }
        }
        return warnings
    }
}

extension KafkaSettings.Topics {
    /// Reports a topic that an earlier key names too.
    func reportShared(_ source: ConfigurationSource) {
        let topics = [
            ("requests", requests), ("receipts", receipts), ("deliveries", deliveries), ("deadLetters", deadLetters),
        ]
        var seen: Set<String> = []
        for (name, topic) in topics where !seen.insert(topic).inserted {
            source.report(["kafka", "topics", name], "is the topic of another key too; use four different topics")
        }
    }
}

extension ValueRule where Value == String {
    static var servers: Self {
        Self(requirement: "must be host:port, or several with commas between them") { text in
            let servers = text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
            return text.utf8.count <= 4096 && servers.allSatisfy(isServer) ? servers.joined(separator: ",") : nil
        }
    }

    static var topic: Self {
        let name = name(upTo: 249)
        return Self(requirement: "\(name.requirement), and neither . nor ..", schema: name.schema) { text in
            text == "." || text == ".." ? nil : name.parse(text)
        }
    }

    static var optionName: Self {
        Self(requirement: "must be librdkafka's own, such as security.protocol") { text in
            let base = text.hasSuffix("File") ? String(text.dropLast(4)) : text
            return base == base.lowercased() ? name(upTo: 100).parse(base).map { _ in text } : nil
        }
    }
}

private func isServer(_ text: String) -> Bool {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let allowed = text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: Array("._:[]-".utf8).contains(byte)
        }
    }
    guard allowed, let host = parts.first, !host.isEmpty else { return false }
    if host.hasPrefix("[") { return isServerByAddress(text[...]) }
    return parts.count == 1 || parts.count == 2 && isPort(parts[1])
}

/// True for `host:port`; an IPv6 address is in brackets, since it contains colons.
private func isServerByAddress(_ text: Substring) -> Bool {
    guard let end = text.firstIndex(of: "]"), text[..<end].count > 1 else { return false }
    let rest = text[text.index(after: end)...]
    return rest.isEmpty || rest.first == ":" && isPort(rest.dropFirst())
}

private func isPort(_ text: Substring) -> Bool { UInt16(text).map { $0 > 0 } ?? false }
