// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import KafkaTools
import Verification

/// A source of dead letters, read from the beginning at each call.
protocol DeadLetterSource: Sendable {
    var kafka: KafkaSettings { get }

    /// Passes every matching dead letter to `body`, in batches, until it returns false.
    func read(_ body: ([DeadLetter]) async -> Bool) async throws(KafkaError)
}

/// The existing records of the dead letter topic.
struct DeadLetterTopic: DeadLetterSource {
    let kafka: KafkaSettings

    /// The earliest time of the dead letters to read; nil for all.
    let since: Timestamp?

    /// The maximum time without a record before the brokers count as unreachable.
    private static let maxWait = Duration.seconds(60)

    /// Passes every matching dead letter to `body`, in batches, up to the end of the topic at the call.
    ///
    /// It joins no consumer group and changes nothing. It ends early when its task is cancelled or `body` returns
    /// false. Records that are no dead letters are skipped.
    func read(_ body: ([DeadLetter]) async -> Bool) async throws(KafkaError) {
        let reader = try await TopicReader.open(
            configuration: kafka.client,
            topic: kafka.topics.deadLetters,
            from: .beginning
        )
        do throws(KafkaError) {
            try await read(reader, body)
        } catch {
            await reader.close()
            throw error
        }
        await reader.close()
    }

    private func read(
        _ reader: TopicReader,
        _ body: ([DeadLetter]) async -> Bool
    ) async throws(KafkaError) {
        var lastRecord = ContinuousClock.now
        while !Task.isCancelled, !(await reader.reachedEnd) {
            let records = try await reader.next(maximum: 500, within: .seconds(1))
            if records.isEmpty {
                if ContinuousClock.now - lastRecord > Self.maxWait { throw KafkaError(.timedOut) }
                continue
            }
            let letters = records.compactMap { DeadLetter($0) }
            guard await body(letters.filter { letter in since.map { letter.time >= $0 } ?? true }) else { break }
            lastRecord = .now
        }
    }
}

/// The selected dead letters.
enum DeadLetterSelection: Equatable {
    case all
    case ids(Set<String>)
    case reason(DeadLetterReason)

    func contains(_ letter: DeadLetter) -> Bool {
        switch self {
        case .all: true
        case .ids(let ids): ids.contains(letter.id)
        case .reason(let reason): letter.reason == reason.rawValue
        }
    }
}
