// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
import PinnedThread

/// Single questions to a cluster, each through a client of its own.
package enum KafkaAdmin {
    /// The number of partitions of a topic; throws `.unknownTopicOrPartition` when it does not exist.
    package static func partitionCount(
        of topic: String,
        configuration: KafkaConfiguration,
        within limit: Duration = .seconds(10)
    ) async throws(KafkaError) -> Int {
        let session = try KafkaSession(.producer, configuration, ["enable.idempotence": "false"])
        return try await session.ask { client throws(KafkaError) in
            try client.partitionCount(of: topic, within: limit)
        }
    }

    /// A setting of an existing topic by Kafka's name, such as `message.timestamp.type`.
    ///
    /// Nil when the client has no permission to read settings; throws `.unknownTopicOrPartition` without the topic.
    package static func setting(
        _ name: String,
        of topic: String,
        configuration: KafkaConfiguration,
        within limit: Duration = .seconds(10)
    ) async throws(KafkaError) -> String? {
        let session = try KafkaSession(.producer, configuration, ["enable.idempotence": "false"])
        return try await session.ask { client throws(KafkaError) in
            _ = try client.partitionCount(of: topic, within: limit)
            return client.setting(name, of: topic, within: limit)
        }
    }
}

/// A client for one blocking call, on a thread of its own.
package actor KafkaSession {
    private let thread = PinnedThread()
    private var handle: ClientHandle?

    nonisolated package var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.asUnownedSerialExecutor()
    }

    package init(
        _ kind: ClientHandle.Kind,
        _ configuration: KafkaConfiguration,
        _ options: [String: String]
    ) throws(KafkaError) {
        handle = try ClientHandle(kind, settings: configuration.settings(defaults: [:], fixed: options))
    }

    /// Lends the client to one call and closes it; an error gets the cause that the client's connections report.
    package func ask<Answer: Sendable>(
        _ question: @Sendable (borrowing ClientHandle) throws(KafkaError) -> Answer
    ) throws(KafkaError) -> Answer {
        guard let handle = handle.take() else { throw KafkaError(.closed) }
        let answer: Result<Answer, KafkaError>
        do throws(KafkaError) {
            answer = .success(try question(handle))
        } catch {
            answer = .failure(handle.explain(error))
        }
        // A client that takes longer is freed in the background.
        _ = handle.close(within: .seconds(2))
        return try answer.get()
    }
}

extension ClientHandle {
    /// Adds the cause that the client's connections reported since the last poll, if the error itself has none.
    ///
    /// Only for clients that make a single call: it drops all other pending events.
    func explain(_ error: KafkaError) -> KafkaError {
        var explained = error
        while let event = poll(.zero) {
            if event.kind == .error { explained = explained.explained(by: event.error) }
        }
        return explained
    }
}
