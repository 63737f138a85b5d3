// SPDX-License-Identifier: Apache-2.0

/// A record to be written, and who is told what became of it.
package struct OutgoingRecord: Sendable {
    package let record: ProducerRecord

    /// Called once, on the producer's thread, which it must not hold up.
    package let answer: @Sendable (DeliveryResult) -> Void

    package init(_ record: ProducerRecord, _ answer: @escaping @Sendable (DeliveryResult) -> Void) {
        self.record = record
        self.answer = answer
    }
}
