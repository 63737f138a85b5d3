// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import KafkaTools
import SettingsReading

/// Produces dead letters again to the topics that they came from.
struct Redrive {
    /// The outcome of a redrive.
    struct Outcome: Equatable {
        /// The number of records produced to each topic.
        var sent: [String: Int] = [:]

        var sentCount: Int { sent.values.reduce(0, +) }

        /// The first error in reading or producing records.
        var failure: KafkaError?

        /// The number of records that could not be produced.
        var failedCount = 0
        var isInterrupted = false
    }

    let source: any DeadLetterSource
    private let partitions: [String: Int]

    init(_ source: any DeadLetterSource, plan: RedrivePlan) async throws(KafkaError) {
        self.source = source
        var partitions: [String: Int] = [:]
        for (topic, _) in plan.counts {
            partitions[topic] = try await KafkaAdmin.partitionCount(of: topic, configuration: source.kafka.client)
        }
        self.partitions = partitions
    }

    /// Reads the dead letters once, to plan the redrive.
    static func plan(
        _ selection: DeadLetterSelection,
        _ source: any DeadLetterSource
    ) async throws(KafkaError) -> RedrivePlan {
        var plan = RedrivePlan(selection, topics: source.kafka.topics)
        try await source.read { letters in
            for letter in letters { plan.consider(letter) }
            return true
        }
        return plan
    }

    /// Reads the dead letters again and produces those of the plan.
    ///
    /// It ends early when all of them are produced, when a record cannot be read or produced, or when its task is
    /// cancelled; the current batch is completed. Throws only before anything is produced.
    func run(
        _ plan: RedrivePlan,
        progress: @Sendable (_ sent: Int) -> Void
    ) async throws(KafkaError) -> Outcome {
        let producer = try KafkaProducer(configuration: source.kafka.client)
        // Runs until `close`, and is awaited below; its error is ignored, since each record's result reports it too.
        let serving = Task { try await producer.run() }
        let outcome = await send(plan, producer, progress)
        await producer.close(within: .seconds(5))
        _ = await serving.result
        return outcome
    }

    private func send(
        _ plan: RedrivePlan,
        _ producer: KafkaProducer,
        _ progress: @Sendable (Int) -> Void
    ) async -> Outcome {
        var plan = plan
        var outcome = Outcome()
        do throws(KafkaError) {
            try await source.read { letters in
                let records = letters.filter { plan.take($0) }.map { letter in
                    letter.redriven(partitions: partitions[letter.topic] ?? 0)
                }
                for (record, result) in zip(records, await producer.send(records)) {
                    switch result {
                    case .delivered: outcome.sent[record.topic, default: 0] += 1
                    case .failed(let error):
                        outcome.failedCount += 1
                        outcome.failure = outcome.failure ?? error
                    }
                }
                progress(outcome.sentCount)
                return outcome.failure == nil && !plan.waiting.isEmpty
            }
        } catch {
            // Keep the first error; the outcome also counts the records already produced.
            outcome.failure = outcome.failure ?? error
        }
        outcome.isInterrupted = Task.isCancelled && !plan.waiting.isEmpty
        return outcome
    }
}
