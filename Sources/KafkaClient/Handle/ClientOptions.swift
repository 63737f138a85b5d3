// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// librdkafka's configuration object, until it is passed to a client.
// SAFETY: the object is this value's alone; it is destroyed by `deinit` or belongs to the client that was made of it.
@safe struct ClientOptions: ~Copyable {
    let options: OpaquePointer

    init() throws(KafkaError) {
        guard let options = unsafe rd_kafka_conf_new() else { throw KafkaError(.failure) }
        unsafe self.options = options
        // Errors arrive as events; the library's own log lines would mix with the program's.
        unsafe rd_kafka_conf_set_log_cb(options, nil)
    }

    /// Sets options, and the kinds of events that the client's queues carry.
    func set(_ settings: [String: String], events: Int32) throws(KafkaError) {
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            if set(name, to: value) != nil { throw KafkaError(.invalidArgument, option: name) }
        }
        watchCertificates()
        unsafe rd_kafka_conf_set_events(options, events)
    }

    /// Sets an option; returns the reason if it is refused, else nil.
    func set(_ name: String, to value: String) -> KafkaConfiguration.OptionRefusal? {
        switch unsafe rd_kafka_conf_set(options, name, value, nil, 0) {
        case RD_KAFKA_CONF_OK: isTakenUnchanged(name, value) ? nil : .notInteger
        case RD_KAFKA_CONF_UNKNOWN: .unknownName
        default: .invalidValue
        }
    }

    /// True for a value that was read completely: librdkafka reads `10s` as 10, and ignores the rest.
    private func isTakenUnchanged(_ name: String, _ value: String) -> Bool {
        guard let taken = self.value(of: name), taken != value, let number = Double(taken) else { return true }
        // A word for a number, such as `all`.
        guard value.contains(where: \.isNumber) else { return true }
        return Double(value) == number && value.allSatisfy { $0.isWholeNumber || ".+-".contains($0) }
    }

    /// An option's value in the library; nil when it has none, or one that is longer than any number.
    private func value(of name: String) -> String? {
        var text = [CChar](repeating: 0, count: 64)
        var size = text.count
        let isFound = unsafe rd_kafka_conf_get(options, name, &text, &size) == RD_KAFKA_CONF_OK
        guard isFound, size <= text.count else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    consuming func makeClient(_ type: rd_kafka_type_t, names: [String]) throws(KafkaError) -> OpaquePointer {
        var text = [CChar](repeating: 0, count: 512)
        let options = unsafe self.options
        let client = unsafe text.withUnsafeMutableBufferPointer { buffer in
            unsafe rd_kafka_new(type, options, buffer.baseAddress, buffer.count)
        }
        guard let client = unsafe client else {
            // The text may contain a value, so only the name of the option is kept.
            let reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let option = names.filter { reason.contains($0) }.max { $0.utf8.count < $1.utf8.count }
            _ = consume self
            throw KafkaError(.invalidArgument, option: option)
        }
        discard self
        return unsafe client
    }

    deinit {
        unsafe rd_kafka_conf_destroy(options)
    }
}
