// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Logs
import PostgresClient
import ServiceLifecycle

// The errors that a line describes: they hold SQLSTATEs, codes, and names of tables, options and system calls.

extension KafkaError: LoggableError {}
extension PostgresError: LoggableError {}
extension HealthFile.Failure: LoggableError {}
extension ServiceManager.Failure: LoggableError {}
extension ServiceGroupError: LoggableError {}
