// SPDX-License-Identifier: Apache-2.0

import KafkaClient

/// Puts dead letters back on the topics that they came from.
struct Redrive {
    /// What became of a redrive.
    struct Outcome: Equatable {
        /// How many records each topic got.
        var sent: [String: Int] = [:]

        var sentCount: Int { sent.values.reduce(0, +) }

        /// The first error that kept records from being read or written.
        var failure: KafkaError?

        /// How many could not be written.
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

    /// Reads the dead letters a first time, to see what goes back.
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

    /// Reads the dead letters a second time and sends those of the plan.
    ///
    /// It ends early when all of them are sent, when a record cannot be read or written, or when its task is cancelled;
    /// a batch that has begun is finished. Throws only before anything is sent.
    func run(
        _ plan: RedrivePlan,
        progress: @Sendable (_ sent: Int) -> Void
    ) async throws(KafkaError) -> Outcome {
        let producer = try KafkaProducer(configuration: source.kafka.client)
        // Served until `close`, which the end of this function waits for; what it throws the results tell too.
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
            // What is back already is told beside it.
            outcome.failure = outcome.failure ?? error
        }
        outcome.isInterrupted = Task.isCancelled && !plan.waiting.isEmpty
        return outcome
    }
}
