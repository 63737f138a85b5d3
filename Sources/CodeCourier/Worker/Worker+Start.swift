// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs

extension Worker {
    /// Creates a worker, and waits for its database if a health file reports that to a supervisor.
    ///
    /// A pod that ends because of an outage of PostgreSQL is restarted with a backoff of up to 5 minutes, which is the
    /// whole lifetime of a request. A fault of the configuration ends the start at once, and so does an outage without
    /// a health file: the person who starts such a worker by hand reads the error.
    static func start(
        telling heartbeat: Heartbeat,
        policyVersion: String,
        logger: Logger,
        make: () async throws -> Worker
    ) async throws -> Worker {
        var isReported = false
        while true {
            do {
                return try await make()
            } catch let failure as StartError where failure.isOutage && heartbeat.hasFile {
                if !isReported {
                    logger.log(.postgresFailing, [.stage: "start", .error: .text(failure.description)])
                    isReported = true
                }
                heartbeat.observe(standing: [:], waitingFor: [.postgres, .kafka], policyVersion: policyVersion)
                // The retry interval: a server sends no signal when it is available again.
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
