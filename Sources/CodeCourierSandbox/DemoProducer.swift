// SPDX-License-Identifier: Apache-2.0

import Foundation
import KafkaClient
import Sandbox

/// The demonstration's records that no command writes: providers' receipts, and a broken request.
struct DemoProducer: Sendable {
    private let producer: KafkaProducer

    init(_ kafka: KafkaConfiguration) throws {
        producer = try KafkaProducer(configuration: kafka)
    }

    /// Serves until the task is cancelled.
    func run() async throws { try await producer.run() }

    private struct Receipt: Encodable {
        let provider: String
        let raw: [String: String]
    }

    /// Passes a provider's receipt on, like a gateway that receives the provider's callbacks.
    func forward(_ receipt: SandboxReceipt) async {
        let value = Receipt(provider: DemoFiles.Provider.sms, raw: receipt.parameters)
        guard let json = try? JSONEncoder().encode(value) else { return }
        await write(Array(json), to: DemoStage.topics.receipts)
    }

    func writeBrokenRequest() async {
        await write(Array(#"{"requestId": "half"#.utf8), to: DemoStage.topics.requests)
    }

    private func write(_ value: [UInt8], to topic: String) async {
        // The cluster is in this process; a rejected record is only missing on the page.
        _ = await producer.send([ProducerRecord(topic: topic, key: nil, value: value, headers: [])])
    }
}
