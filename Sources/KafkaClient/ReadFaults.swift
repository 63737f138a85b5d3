// SPDX-License-Identifier: Apache-2.0

/// The reasons why topics cannot be read although brokers answer, by place, each until that place is read.
///
/// Pure: the owner reports errors and reads, and retries the places that are due.
struct ReadFaults {
    private var group: KafkaError?
    private var topics: [String: KafkaError] = [:]
    private var partitions: [TopicPartition: KafkaError] = [:]

    /// Partitions whose leaders are unreachable.
    private var absent: [TopicPartition: KafkaError] = [:]
    private var nextTry: ContinuousClock.Instant?

    private static let pause = Duration.seconds(3)

    var isEmpty: Bool { group == nil && topics.isEmpty && partitions.isEmpty && absent.isEmpty }

    /// Records an error if a topic is its cause, and returns it with its topic; nil for other errors.
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

    /// Records that a partition was read; true when no fault is left.
    mutating func read(_ partition: TopicPartition) -> Bool {
        if isEmpty { return false }
        topics[partition.topic] = nil
        group = nil
        partitions[partition] = nil
        return isEmpty
    }

    /// Records an assignment by the group; true when no fault is left.
    mutating func join() -> Bool {
        if isEmpty { return false }
        group = nil
        return isEmpty
    }

    /// Records that a topic exists and can be used; true when no fault is left.
    mutating func find(_ topic: String) -> Bool {
        if isEmpty { return false }
        topics[topic] = nil
        return isEmpty
    }

    /// Forgets partitions, which another member may own now; true when no fault is left.
    mutating func clearPartitions() -> Bool {
        if partitions.isEmpty && absent.isEmpty { return false }
        (partitions, absent) = ([:], [:])
        return isEmpty
    }

    /// Records the partitions whose leaders are unreachable now; returns the new faults and the recovered partitions.
    mutating func watch(
        _ absent: [TopicPartition: KafkaError]
    ) -> (begun: [KafkaError], ended: [TopicPartition]) {
        let begun = absent.filter { self.absent[$0.key] != $0.value }.values
        let ended = self.absent.keys.filter { absent[$0] == nil }
        self.absent = absent
        return (Array(begun), ended)
    }

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

    /// Retries unreadable places: a topic by a metadata request, a partition by a fetch that reports its end.
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
