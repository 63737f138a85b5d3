// SPDX-License-Identifier: Apache-2.0

import KafkaClient

/// A Kafka error in one line: what happened, the cause, and the remedy.
struct KafkaFault: CustomStringConvertible {
    let description: String

    /// Names the option that an error concerns; an error without a specific cause concerns `key`.
    init(_ error: any Error, key: String = "kafka.bootstrapServers") {
        guard let error = error as? KafkaError else {
            description = "\(key): \(error)"
            return
        }
        if let option = error.option {
            description = "kafka.options.\(option): is no option of librdkafka, or has a wrong value"
        } else if let sentence = Self.sentence(of: error) {
            description = "\(sentence.what) (\(error.reason.words)): \(sentence.remedy)"
        } else {
            description = "\(key): \(error)"
        }
    }

    /// The sentence and remedy for an error; nil for an error without a specific cause.
    private static func sentence(of error: KafkaError) -> (what: String, remedy: String)? {
        connection(error) ?? topic(error)
    }

    private static func connection(_ error: KafkaError) -> (what: String, remedy: String)? {
        let at = error.broker.map { " at \($0)" } ?? ""
        let broker = "the broker\(at)"
        return switch error.reason {
        case .brokersAway, .connectionLost, .connectionRefused, .networkUnreachable, .timedOut:
            ("no broker\(at.isEmpty ? " answers" : at)", "check kafka.bootstrapServers")
        case .nameUnresolved: ("no address for \(broker)", "check kafka.bootstrapServers")
        case .protocolMismatch:
            ("\(broker) expects another protocol", "check kafka.options.security.protocol and the port")
        case .certificateUntrusted:
            ("the certificate of \(broker) is not trusted", "set kafka.options.ssl.ca.location to its authority's")
        case .hostNameMismatch:
            (
                "the certificate of \(broker) is for another host",
                "name brokers in kafka.bootstrapServers and advertised.listeners as the certificate does"
            )
        case .certificateExpired, .certificateRevoked:
            ("the certificate of \(broker) is not valid", "renew it")
        case .certificateNotYetValid: ("the certificate of \(broker) is not valid", "check the clocks of both hosts")
        case .clientCertificateRequired, .clientCertificateRefused:
            ("\(broker) takes no client without its certificate", "check kafka.options.ssl.certificate.location")
        case .tlsFailed: ("no TLS with \(broker)", "check kafka.options.ssl.*")
        case .authenticationFailed: ("\(broker) refuses the login", authenticationRemedy)
        case .mechanismUnsupported: ("\(broker) refuses the login", "check kafka.options.sasl.mechanism")
        default: nil
        }
    }

    private static func topic(_ error: KafkaError) -> (what: String, remedy: String)? {
        let topic = error.topic.map { "topic \($0)" } ?? "a topic"
        return switch error.reason {
        case .notAuthorized: ("no right to \(topic)", "grant it to the user of kafka.options (docs/deployment.md)")
        case .topicMissing:
            (
                "no \(topic)",
                """
                create it (docs/deployment.md; for a trial kafka-topics.sh --create --topic \(error.topic ?? "…")), or check \
                kafka.topics
                """
            )
        case .tooFewInSync: ("\(topic) lacks replicas", "bring its brokers back, or check min.insync.replicas")
        case .leaderMissing: ("\(topic) has no leader", "bring its brokers back")
        case .storageError: ("a broker cannot use its disk for \(topic)", "look at the brokers' disks")
        case .messageTooLarge: ("\(topic) takes no record of this size", "raise its max.message.bytes")
        case .recordRefused: ("\(topic) refuses the record", "check the topic's settings")
        case .unsupported: ("the brokers cannot do this", "Apache Kafka 3 or newer is needed")
        default: nil
        }
    }

    private static var authenticationRemedy: String {
        let remedy = "check sasl.username and sasl.password in kafka.options"
        guard LibraryVersion.loaded < .scramWithKafka4 else { return remedy }
        return "\(remedy); SCRAM at Kafka 4 needs librdkafka 2.6.1 or newer, this is \(librdkafkaVersion)"
    }
}
