// SPDX-License-Identifier: Apache-2.0

import Courier
import Logging
import ServiceLifecycle
import UnixSignals
import Verification

/// Reads the policy again on SIGHUP; a faulty one is refused, and the one in force stays.
struct PolicyReload: Service {
    let path: String
    let providers: Set<String>
    let policies: PolicySource
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            reload()
        }
    }

    private func reload() {
        switch PolicyFile.load(path: path, providers: providers) {
        case .success(let policy):
            policies.replace(with: policy)
            logger.notice(
                "policy reloaded",
                metadata: ["event": "policy.reloaded", "policy_version": "\(policy.version)"]
            )
        case .failure(let faults):
            for fault in faults.faults {
                logger.error("policy refused", metadata: ["event": "policy.refused", "fault": "\(fault)"])
            }
        }
    }
}
