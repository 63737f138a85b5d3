// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
package import Logging
package import Logs
import Synchronization
import Verification

/// The topics that a worker cannot use though brokers answer, each until its own success.
///
/// `health`, `top` and the log tell of them, so that a missing right does not look like brokers that are away.
package final class TopicFaults: Sendable {
    package enum Use: String, Sendable {
        case publish, read
    }

    /// One topic and the cause.
    package struct Fault: Hashable, Sendable {
        package let use: Use
        package let topic: String
        package let reason: KafkaError.Reason

        /// As health tells it: "cannot publish to verification.deliveries (too few in sync)".
        package var sentence: String {
            "cannot \(use == .publish ? "publish to" : "read") \(topic) (\(reason.words))"
        }
    }

    private struct Key: Hashable {
        let use: Use
        let topic: String
    }

    private struct State {
        var reason: KafkaError.Reason
        var notice = OutageNotice()
    }

    private let faults = Mutex<[Key: State]>([:])
    private let logger: Logger

    package init(logger: Logger = Logger(label: "none") { _ in SwiftLogNoOpLogHandler() }) {
        self.logger = logger
    }

    /// In the order of uses and topics.
    package var all: [Fault] {
        faults.withLock { $0.map { Fault(use: $0.key.use, topic: $0.key.topic, reason: $0.value.reason) } }
            .sorted { ($0.use.rawValue, $0.topic) < ($1.use.rawValue, $1.topic) }
    }

    /// A topic takes no records; causes that are not the topic's are told of elsewhere.
    package func cannotPublish(_ error: KafkaError, to topic: String) {
        guard error.reason.isOfTopic, note(error, Key(use: .publish, topic: topic)) else { return }
        logger.log(.publishRefused, error.at(topic: topic, partition: error.partition).logFields)
    }

    package func published(to topic: String) {
        guard clear(Key(use: .publish, topic: topic)) else { return }
        logger.log(.publishRecovered, [.topic: .text(topic)])
    }

    /// A topic cannot be read.
    package func cannotRead(_ error: KafkaError, _ topic: String, _ events: LoggedEvent.Consumer) {
        guard note(error, Key(use: .read, topic: topic)) else { return }
        logger.log(events.cannotRead, error.at(topic: topic, partition: error.partition).logFields)
    }

    package func readsAgain(_ topic: String, _ events: LoggedEvent.Consumer) {
        guard clear(Key(use: .read, topic: topic)) else { return }
        logger.log(events.readsAgain, [.topic: .text(topic)])
    }

    /// True when it is to be told: as it begins, and again while it lasts.
    private func note(_ error: KafkaError, _ key: Key) -> Bool {
        faults.withLock { faults in
            var state = faults[key] ?? State(reason: error.reason)
            state.reason = error.reason
            defer { faults[key] = state }
            return state.notice.failed()
        }
    }

    private func clear(_ key: Key) -> Bool {
        faults.withLock { $0.isEmpty ? false : $0.removeValue(forKey: key) != nil }
    }
}

extension KafkaError {
    /// The fields of a line about it.
    package var logFields: [LogField: LogValue] {
        var fields: [LogField: LogValue] = [.error: LogValue(self as any Error), .reason: .text(reason.rawValue)]
        if let broker { fields[.broker] = .text(broker) }
        if let topic { fields[.topic] = .text(topic) }
        if let partition { fields[.partition] = .integer(Int64(partition)) }
        return fields
    }
}
