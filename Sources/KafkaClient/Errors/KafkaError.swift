// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// An error of librdkafka or of a broker.
///
/// It contains at most codes, fixed words and the names of an option, a broker, a topic and a partition: never a
/// record's bytes, an option's value or a broker's text.
package struct KafkaError: Error, Hashable, Sendable {
    /// The code, one of librdkafka's own (negative) or of the Kafka protocol (positive).
    package let code: Code

    /// True when the client that reported it is unusable and must be replaced.
    package let isFatal: Bool

    package let isRetriable: Bool

    /// The name of the configuration option at fault, if it is one.
    package let option: String?

    package private(set) var reason: Reason

    /// The broker at fault as `host:port`, if there is one.
    package private(set) var broker: String?

    package private(set) var topic: String?
    package private(set) var partition: Int32?

    /// True when a single record is the cause: its topic may accept others.
    package var isOfRecord: Bool {
        [.messageTooLarge, .recordRefused].contains(reason) || [.invalidArgument, .unknownPartition].contains(code)
    }

    package init(_ code: Code, isFatal: Bool = false, isRetriable: Bool? = nil, option: String? = nil) {
        self.code = code
        reason = Reason(code)
        self.isFatal = isFatal
        self.isRetriable = isRetriable ?? (!isFatal && code.isTransient)
        self.option = option
    }

    init(_ code: rd_kafka_resp_err_t, isFatal: Bool = false) {
        self.init(Code(code), isFatal: isFatal)
    }

    /// Nil when the code means success.
    init?(failure code: rd_kafka_resp_err_t) {
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        self.init(code)
    }

    /// Takes ownership of an error object, reads it and frees it; nil when there is none.
    ///
    // SAFETY: the caller hands its only reference over; nothing reads the object afterwards.
    init?(adopting error: OpaquePointer?) {
        guard let error = unsafe error else { return nil }
        self = unsafe KafkaError(reading: error)
        unsafe rd_kafka_error_destroy(error)
    }

    /// Reads an error object without taking ownership.
    private init(reading error: OpaquePointer) {
        let isFatal = unsafe rd_kafka_error_is_fatal(error) != 0
        let code = unsafe Code(rd_kafka_error_code(error))
        let isRetriable = unsafe rd_kafka_error_is_retriable(error) != 0
        self.init(code, isFatal: isFatal, isRetriable: !isFatal && (isRetriable || code.isTransient))
    }
}

// MARK: - Cause and place

extension KafkaError {
    /// Returns the error with the connection fault that librdkafka's text describes.
    func explained(by text: String) -> KafkaError {
        let fault = ConnectionFault(text: text, code: code)
        var error = self
        if let reason = fault.reason { error.reason = reason }
        error.broker = fault.broker
        return error
    }

    /// Returns the error with the cause of another one, if its own code says only that no answer arrived.
    package func explained(by other: KafkaError?) -> KafkaError {
        guard let other, reason.isVague else { return self }
        var error = self
        if !other.reason.isVague || reason == .other { error.reason = other.reason }
        error.broker = other.broker ?? broker
        return error
    }

    package func at(topic: String, partition: Int32? = nil) -> KafkaError {
        var error = self
        error.topic = topic
        error.partition = partition.flatMap { $0 < 0 ? nil : $0 }
        return error
    }

    /// Returns the error with its broker, as `host:port`.
    func at(broker: String) -> KafkaError {
        var error = self
        error.broker = broker
        return error
    }

    package func at(_ place: TopicPartition?) -> KafkaError {
        place.map { at(topic: $0.topic, partition: $0.partition) } ?? self
    }
}

extension KafkaError: CustomStringConvertible {
    /// librdkafka's name of the code, as in `_TIMED_OUT`.
    package var name: String { code.name }

    package var description: String {
        guard let option else { return "KafkaError(\(name))" }
        return "KafkaError(\(name), option \(option))"
    }
}
