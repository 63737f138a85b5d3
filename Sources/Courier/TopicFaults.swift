// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
package import Logging
package import Logs
import Synchronization
import Verification

/// The topics, and partitions of them, that a worker cannot use though brokers answer, each until its own success.
///
/// `health`, `top` and the log tell of them, so that a missing right does not look like brokers that are away, and brokers of
/// which some are away do not look like health.
package final class TopicFaults: Sendable {
    package enum Use: String, Sendable {
        case publish, read
    }

    /// One topic and the cause.
    package struct Fault: Hashable, Sendable {
        package let use: Use
        package let topic: String

        /// In their order; none for the whole topic.
        package let partitions: [Int32]
        package let reason: KafkaError.Reason

        /// As health tells it: "cannot publish to verification.deliveries, partition 3 (leader missing)".
        package var sentence: String {
            "cannot \(use == .publish ? "publish to" : "read") \(topic)\(place) (\(reason.words))"
        }

        private var place: String {
            if partitions.isEmpty { return "" }
            let numbers = partitions.prefix(Self.most).map(String.init).joined(separator: " ")
            let others = partitions.count > Self.most ? " and \(partitions.count - Self.most) more" : ""
            return ", partition\(partitions.count == 1 ? "" : "s") \(numbers)\(others)"
        }

        /// The partitions that a sentence names.
        private static let most = 8
    }

    private struct Key: Hashable {
        let use: Use
        let topic: String
    }

    private struct State {
        var notice = OutageNotice()

        /// The cause by partition, nil for the whole topic, and when it was noted last.
        var places: [Int32?: (reason: KafkaError.Reason, notedAt: ContinuousClock.Instant)] = [:]
    }

    /// The time after which a fault of publishing that the producer does not repeat is over.
    ///
    /// It repeats them while records wait: another worker may have published what had waited.
    private static let publishMemory = Duration.seconds(30)

    private let faults = Mutex<[Key: State]>([:])
    private let logger: Logger

    package init(logger: Logger = Logger(label: "none") { _ in SwiftLogNoOpLogHandler() }) {
        self.logger = logger
    }

    /// In the order of uses and topics, those of one topic together.
    package func all(now: ContinuousClock.Instant = .now) -> [Fault] {
        faults.withLock { faults in
            for (key, state) in faults where key.use == .publish {
                let places = state.places.filter { now < $0.value.notedAt + Self.publishMemory }
                if places.isEmpty { faults[key] = nil } else { faults[key]?.places = places }
            }
            return faults.compactMap { key, state -> Fault? in
                let latest = state.places.values.max { $0.notedAt < $1.notedAt }
                guard let reason = state.places[nil]?.reason ?? latest?.reason else { return nil }
                let partitions = state.places[nil] == nil ? state.places.keys.compactMap(\.self).sorted() : []
                return Fault(use: key.use, topic: key.topic, partitions: partitions, reason: reason)
            }
        }
        .sorted { ($0.use.rawValue, $0.topic) < ($1.use.rawValue, $1.topic) }
    }

    /// A record was not taken; causes that are not the topic's are told of elsewhere.
    package func cannotPublish(_ error: KafkaError, to topic: String) {
        if error.reason.isOfTopic { isStuck(error, topic) }
    }

    /// A topic, or a partition of it, takes no records, whatever the cause.
    package func isStuck(_ error: KafkaError, _ topic: String) {
        guard note(error, Key(use: .publish, topic: topic)) else { return }
        logger.log(.publishRefused, error.at(topic: topic, partition: error.partition).logFields)
    }

    /// A partition took a record.
    package func published(to topic: String, _ partition: Int32) {
        guard clear(Key(use: .publish, topic: topic), [partition, nil]) else { return }
        logger.log(.publishRecovered, [.topic: .text(topic)])
    }

    /// A topic, or a partition of it, cannot be read.
    package func cannotRead(_ error: KafkaError, _ topic: String, _ events: LoggedEvent.Consumer) {
        guard note(error, Key(use: .read, topic: topic)) else { return }
        logger.log(events.cannotRead, error.at(topic: topic, partition: error.partition).logFields)
    }

    /// A partition can be read, and others of its topic cannot.
    package func readsAgain(_ partition: TopicPartition) {
        _ = clear(Key(use: .read, topic: partition.topic), [partition.partition])
    }

    package func readsAgain(_ topic: String, _ events: LoggedEvent.Consumer) {
        guard clear(Key(use: .read, topic: topic)) else { return }
        logger.log(events.readsAgain, [.topic: .text(topic)])
    }

    /// True when it is to be told: as it begins, and again while it lasts.
    private func note(_ error: KafkaError, _ key: Key) -> Bool {
        faults.withLock { faults in
            var state = faults[key] ?? State()
            state.places[error.partition] = (error.reason, .now)
            defer { faults[key] = state }
            return state.notice.failed()
        }
    }

    /// Forgets places of a topic, nil for all; true when none is left of some.
    private func clear(_ key: Key, _ places: [Int32?]? = nil) -> Bool {
        faults.withLock { faults in
            guard !faults.isEmpty, var state = faults[key] else { return false }
            for place in places ?? Array(state.places.keys) { state.places[place] = nil }
            faults[key] = state.places.isEmpty ? nil : state
            return state.places.isEmpty
        }
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
