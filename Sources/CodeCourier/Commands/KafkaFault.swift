// SPDX-License-Identifier: Apache-2.0

import KafkaClient

/// Brokers that cannot be used, in one line that names the key at fault.
struct KafkaFault: CustomStringConvertible {
    let description: String

    /// Names the option that an error is about; without one the fault is that of `key`.
    init(_ error: any Error, key: String = "kafka.bootstrapServers") {
        if let option = (error as? KafkaError)?.option {
            description = "kafka.options.\(option): is no option of librdkafka, or has a wrong value"
        } else {
            description = "\(key): \(error)"
        }
    }
}
