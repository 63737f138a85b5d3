// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Verification

/// Where dead letters are read, each time from the beginning.
protocol DeadLetterSource: Sendable {
    var kafka: KafkaSettings { get }

    /// Gives every dead letter that is wanted, in batches, until `body` says no more.
    func read(_ body: ([DeadLetter]) async -> Bool) async throws(KafkaError)
}

/// The past of the dead letter topic.
struct DeadLetterTopic: DeadLetterSource {
    let kafka: KafkaSettings

    /// Dead letters that were found before are left out; nil for none.
    let since: Timestamp?

    /// How long the brokers may give no record before they count as away.
    private static let patience = Duration.seconds(60)

    /// Gives every dead letter that is wanted, in batches, up to where the topic ended when this was called.
    ///
    /// It belongs to no consumer group and changes nothing. A cancelled task ends it early, and so does `body` by false.
    /// Records that are no dead letters are passed over.
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
                if ContinuousClock.now - lastRecord > Self.patience { throw KafkaError(.timedOut) }
                continue
            }
            let letters = records.compactMap { DeadLetter($0) }
            guard await body(letters.filter { letter in since.map { letter.time >= $0 } ?? true }) else { break }
            lastRecord = .now
        }
    }
}

/// Which dead letters are meant.
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
