// SPDX-License-Identifier: Apache-2.0

/// What became of a record that was sent.
package enum DeliveryResult: Hashable, Sendable {
    /// Every in-sync replica has it.
    case delivered(partition: Int32, offset: Int64)

    /// It is not known to be written; sending it again is right when the error is retriable.
    case failed(KafkaError)

    /// Why it is not known to be written; nil when it is.
    package var failure: KafkaError? {
        if case .failed(let error) = self { error } else { nil }
    }
}
