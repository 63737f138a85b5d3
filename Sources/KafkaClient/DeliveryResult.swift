// SPDX-License-Identifier: Apache-2.0

/// The result of a record that was sent.
package enum DeliveryResult: Hashable, Sendable {
    /// Every in-sync replica has the record.
    case delivered(partition: Int32, offset: Int64)

    /// The record may not be written; send it again if the error is retriable.
    case failed(KafkaError)

    /// The cause of a failed delivery; nil after a successful one.
    package var failure: KafkaError? {
        if case .failed(let error) = self { error } else { nil }
    }
}
