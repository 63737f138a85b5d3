// SPDX-License-Identifier: Apache-2.0

/// Why topics cannot be read though brokers answer, until they are read: by place, since each has its own success.
///
/// Pure: the owner tells what it saw, and asks for what to try.
struct ReadFaults {
    private var group: KafkaError?
    private var topics: [String: KafkaError] = [:]
    private var partitions: [TopicPartition: KafkaError] = [:]

    /// Partitions whose leaders are away.
    private var absent: [TopicPartition: KafkaError] = [:]
    private var nextTry: ContinuousClock.Instant?

    /// The time between two tries.
    private static let pause = Duration.seconds(3)

    var isEmpty: Bool { group == nil && topics.isEmpty && partitions.isEmpty && absent.isEmpty }

    /// Takes an error of a consumer, and returns it with its topic if it is of this kind; nil for others.
    mutating func note(_ error: KafkaError, of subscription: [String]) -> KafkaError? {
        guard error.reason.isOfTopic, error.reason != .recordRefused else { return nil }
        let fault = error.topic == nil ? error.at(topic: subscription.joined(separator: ",")) : error
        if error.code.isOfGroup {
            group = fault
        } else if let topic = error.topic, let partition = error.partition {
            partitions[TopicPartition(topic: topic, partition: partition)] = fault
        } else {
            for topic in subscription where error.topic ?? topic == topic { topics[topic] = fault }
        }
        return fault
    }

    /// A partition was read; true when nothing is left.
    mutating func read(_ partition: TopicPartition) -> Bool {
        if isEmpty { return false }
        topics[partition.topic] = nil
        group = nil
        partitions[partition] = nil
        return isEmpty
    }

    /// The group has given a share; true when nothing is left.
    mutating func join() -> Bool {
        if isEmpty { return false }
        group = nil
        return isEmpty
    }

    /// A topic is there and may be used; true when nothing is left.
    mutating func find(_ topic: String) -> Bool {
        if isEmpty { return false }
        topics[topic] = nil
        return isEmpty
    }

    /// The partitions are another member's; true when nothing is left.
    mutating func clearPartitions() -> Bool {
        if partitions.isEmpty && absent.isEmpty { return false }
        (partitions, absent) = ([:], [:])
        return isEmpty
    }

    /// Takes the partitions whose leaders are away now, and returns what is new of it and what is over.
    mutating func watch(
        _ absent: [TopicPartition: KafkaError]
    ) -> (begun: [KafkaError], ended: [TopicPartition]) {
        let begun = absent.filter { self.absent[$0.key] != $0.value }.values
        let ended = self.absent.keys.filter { absent[$0] == nil }
        self.absent = absent
        return (Array(begun), ended)
    }

    /// The places to try again now.
    mutating func due(at now: ContinuousClock.Instant) -> (topics: [String], partitions: [TopicPartition]) {
        if isEmpty || now < nextTry ?? now { return ([], []) }
        nextTry = now + Self.pause
        return (topics.keys.sorted(), Array(partitions.keys))
    }
}

extension KafkaConsumer {
    func noteReadable(_ partition: TopicPartition) {
        if readFaults.read(partition) { notify(.readsAgain) }
    }

    func noteJoined() {
        if readFaults.join() { notify(.readsAgain) }
    }

    /// Tries what could not be read: a topic by a question, a partition by a fetch that tells of its end.
    func checkReadFaults() {
        if readFaults.isEmpty || !areBrokersReachable || revocation != nil { return }
        let due = readFaults.due(at: .now)
        for topic in due.topics {
            guard (try? handle?.partitionCount(of: topic, within: .milliseconds(500))) != nil else { continue }
            if readFaults.find(topic) { notify(.readsAgain) }
        }
        for partition in due.partitions {
            let known = [lossWatch.position(of: partition), assignment.position(of: partition)].compactMap(\.self)
            guard let position = known.max() else { continue }
            do { try handle?.seek(partition, to: position) } catch { notify(.error(error)) }
        }
    }
}
