// SPDX-License-Identifier: Apache-2.0

/// A record to be written, and the callback for its result.
package struct OutgoingRecord: Sendable {
    package let record: ProducerRecord

    /// Called once, on the producer's thread, which it must not block.
    package let answer: @Sendable (DeliveryResult) -> Void

    package init(_ record: ProducerRecord, _ answer: @escaping @Sendable (DeliveryResult) -> Void) {
        self.record = record
        self.answer = answer
    }
}
