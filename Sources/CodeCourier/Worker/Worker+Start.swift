// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs

extension Worker {
    /// Makes a worker, and waits for its database where a health file tells a supervisor so.
    ///
    /// A pod that ends because PostgreSQL is away is started again later and later, up to 5 minutes, which is all the time
    /// that a request has. A fault of the configuration ends the start at once, and so does an absent database where nobody
    /// looks at a health file: whoever starts such a worker by hand reads why.
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
                heartbeat.look(standing: [:], waitingFor: [.postgres, .kafka], policyVersion: policyVersion)
                // The pace of the tries: a server that is away gives no signal when it is back.
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
