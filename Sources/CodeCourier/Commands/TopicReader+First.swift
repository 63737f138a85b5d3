// SPDX-License-Identifier: Apache-2.0

import KafkaClient

extension TopicReader {
    /// The first record that satisfies `isMeant`; nil when none comes within `limit`.
    ///
    /// Throws `CancellationError` as soon as its task is cancelled: `next` returns nothing then.
    nonisolated func first(
        within limit: Duration,
        where isMeant: (ConsumerRecord) -> Bool = { _ in true }
    ) async throws -> ConsumerRecord? {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            try Task.checkCancellation()
            let records = try await next(maximum: 500, within: .milliseconds(200))
            if let record = records.first(where: isMeant) { return record }
        }
        return nil
    }
}
