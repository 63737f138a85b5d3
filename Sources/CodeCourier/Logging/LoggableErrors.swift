// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Logs
import PostgresClient
import ServiceLifecycle

// Errors whose descriptions may be logged: they hold only SQLSTATEs, codes, and names of tables, options and calls.

extension KafkaError: LoggableError {}
extension PostgresError: LoggableError {}
extension HealthFile.Failure: LoggableError {}
extension ServiceManager.Failure: LoggableError {}
extension ServiceGroupError: LoggableError {}
