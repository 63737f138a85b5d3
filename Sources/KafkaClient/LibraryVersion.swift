// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// The version of the librdkafka that is loaded, as in `2.0.2`.
// SAFETY: the answer is a static string of the library.
package let librdkafkaVersion = unsafe rd_kafka_version_str().map { unsafe String(cString: $0) } ?? "unknown"
