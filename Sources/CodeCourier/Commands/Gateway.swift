// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import KafkaTools
import Logs
import Verification

/// An API gateway upstream of the workers: it produces requests and consumes the events that answer them.
struct Gateway {
    private let producer: KafkaProducer
    private let events: TopicReader
    private let serving: Task<Void, any Error>
    private let topic: String

    init(_ settings: KafkaSettings) async throws(KafkaError) {
        let producer = try KafkaProducer(configuration: settings.client)
        // Reads from the end of the topic, so that no event after this line is missed.
        events = try await TopicReader.open(
            configuration: settings.client,
            topic: settings.topics.deliveries,
            from: .end
        )
        self.producer = producer
        topic = settings.topics.requests
        // Runs the producer until `close`, which stops it and waits.
        serving = Task { try await producer.run() }
    }

    /// Produces a request and returns its partition and offset.
    func send(_ request: RequestDraft) async throws(KafkaError) -> String {
        try await send(value: request.json, key: request.key, asEvent: true)
    }

    /// Produces any bytes as a record, with the headers of a CloudEvent when `asEvent` is true.
    func send(value: [UInt8], key: String, asEvent: Bool = false) async throws(KafkaError) -> String {
        var headers: [RecordHeader] = []
        if asEvent {
            headers = [
                RecordHeader(name: "ce_specversion", value: Array("1.0".utf8)),
                RecordHeader(name: "ce_id", value: Array(RequestDraft.newID().utf8)),
                RecordHeader(name: "ce_source", value: Array("/code-courier/gateway".utf8)),
                RecordHeader(name: "ce_type", value: Array(CloudEventType.requested.rawValue.utf8)),
                RecordHeader(name: "content-type", value: Array("application/json".utf8)),
            ]
        }
        let record = ProducerRecord(topic: topic, key: Array(key.utf8), value: value, headers: headers)
        guard let result = await producer.send([record]).first else { return "" }
        switch result {
        case .delivered(let partition, let offset): return "partition \(partition), offset \(offset)"
        case .failed(let error): throw error
        }
    }

    /// The first event that answers a request; nil after the time limit or a cancellation.
    func event(answering requestID: String, within limit: Duration) async throws -> [UInt8]? {
        let event = try await events.first(within: limit) { record in
            record.value.map { EventLine($0).requestID == requestID } ?? false
        }
        return event?.value
    }

    func close() async {
        await producer.close(within: .seconds(5))
        _ = await serving.result
        await events.close()
    }
}

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
