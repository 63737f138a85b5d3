// SPDX-License-Identifier: Apache-2.0

import Formats
package import KafkaClient
package import Logging
package import Logs
import Synchronization
import Verification

/// The topics and partitions that a worker cannot use although brokers answer, each until it works again.
///
/// `health`, `top` and the log report them. So a missing permission is distinct from unreachable brokers, and an outage
/// of some brokers is visible.
package final class TopicFaults: Sendable {
    package enum Use: String, Sendable {
        case publish, read
    }

    package struct Fault: Hashable, Sendable {
        package let use: Use
        package let topic: String

        /// The partitions in ascending order; empty for the whole topic.
        package let partitions: [Int32]
        package let reason: KafkaError.Reason

        /// The sentence in health output: "cannot publish to verification.deliveries, partition 3 (leader missing)".
        package var sentence: String {
            "cannot \(use == .publish ? "publish to" : "read") \(topic)\(place) (\(reason.words))"
        }

        private var place: String {
            if partitions.isEmpty { return "" }
            let numbers = partitions.prefix(Self.most).map(String.init).joined(separator: " ")
            let others = partitions.count > Self.most ? " and \(partitions.count - Self.most) more" : ""
            return ", partition\(partitions.count == 1 ? "" : "s") \(numbers)\(others)"
        }

        /// Maximum of partitions that a sentence names.
        private static let most = 8
    }

    private struct Key: Hashable {
        let use: Use
        let topic: String
    }

    private struct State {
        var notice = OutageNotice()

        /// The cause and the time of its last report by partition; nil is the whole topic.
        var places: [Int32?: (reason: KafkaError.Reason, notedAt: ContinuousClock.Instant)] = [:]
    }

    /// Time after which a publishing fault that the producer does not report again is over.
    ///
    /// The producer reports it while records wait; they may be gone because another worker has published them.
    private static let publishMemory = Duration.seconds(30)

    private let faults = Mutex<[Key: State]>([:])
    private let logger: Logger

    package init(logger: Logger = Logger(label: "none") { _ in SwiftLogNoOpLogHandler() }) {
        self.logger = logger
    }

    /// All faults, ordered by use and topic; one entry for each use of a topic.
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

    /// Records a failed delivery; ignores causes other than the topic, which are reported elsewhere.
    package func cannotPublish(_ error: KafkaError, to topic: String) {
        if error.reason.isOfTopic { isStuck(error, topic) }
    }

    /// Records that a topic or partition accepts no records, whatever the cause.
    package func isStuck(_ error: KafkaError, _ topic: String) {
        guard note(error, Key(use: .publish, topic: topic)) else { return }
        logger.log(.publishRefused, error.at(topic: topic, partition: error.partition).logFields)
    }

    /// Records a delivery to a partition, which ends its fault.
    package func published(to topic: String, _ partition: Int32) {
        guard clear(Key(use: .publish, topic: topic), [partition, nil]) else { return }
        logger.log(.publishRecovered, [.topic: .text(topic)])
    }

    package func cannotRead(_ error: KafkaError, _ topic: String, _ events: LoggedEvent.Consumer) {
        guard note(error, Key(use: .read, topic: topic)) else { return }
        logger.log(events.cannotRead, error.at(topic: topic, partition: error.partition).logFields)
    }

    /// Records that a partition can be read while others of its topic cannot.
    package func readsAgain(_ partition: TopicPartition) {
        _ = clear(Key(use: .read, topic: partition.topic), [partition.partition])
    }

    package func readsAgain(_ topic: String, _ events: LoggedEvent.Consumer) {
        guard clear(Key(use: .read, topic: topic)) else { return }
        logger.log(events.readsAgain, [.topic: .text(topic)])
    }

    /// Records a fault; true when it is to be logged: at its start, and repeatedly while it lasts.
    private func note(_ error: KafkaError, _ key: Key) -> Bool {
        faults.withLock { faults in
            var state = faults[key] ?? State()
            state.places[error.partition] = (error.reason, .now)
            defer { faults[key] = state }
            return state.notice.failed()
        }
    }

    /// Removes faults of a topic's partitions, nil for all; true when that removes the last one.
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
    package var logFields: [LogField: LogValue] {
        var fields: [LogField: LogValue] = [.error: LogValue(self as any Error), .reason: .text(reason.rawValue)]
        if let broker { fields[.broker] = .text(broker) }
        if let topic { fields[.topic] = .text(topic) }
        if let partition { fields[.partition] = .integer(Int64(partition)) }
        return fields
    }
}
