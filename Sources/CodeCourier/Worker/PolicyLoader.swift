// SPDX-License-Identifier: Apache-2.0

import Courier
import Formats
import Logging
import Logs
import SettingsReading
import Verification

/// Loads the policy file, and applies or rejects its content.
actor PolicyLoader: FileLoader {
    private let path: String
    private let providers: [String: Channel]
    private let policies: PolicySource
    private let logger: Logger

    /// The last content that was checked.
    private var judged: PolicyText?

    init(path: String, providers: [String: Channel], policies: PolicySource, logger: Logger) {
        self.path = path
        self.providers = providers
        self.policies = policies
        self.logger = logger
    }

    var paths: [String] { [path] + (judged?.prices.map { [$0.path] } ?? []) }

    func load(because cause: ReloadCause) {
        let content = PolicyText(path: path)
        if cause == .change, judged == content { return }
        let isFirst = judged == nil
        judged = content
        switch PolicyFile.parse(content, providers: providers) {
        case .success(let policy):
            // The first check after the start usually finds the policy that the start has loaded.
            if isFirst, cause == .change, policy == policies.current { return }
            replace(with: policy)
        case .failure(let faults):
            for fault in faults.faults {
                logger.log(
                    .policyRefused,
                    [.fault: LogValue(fault), .policyVersion: .text(policies.current.version)]
                )
            }
        }
    }

    private func replace(with policy: Policy) {
        let current = policies.current
        policies.replace(with: policy)
        if policy.version == current.version, policy != current {
            logger.log(.policyVersionReused, [.policyVersion: .text(policy.version)])
        }
        logger.log(
            .policyReloaded,
            [.policyVersion: .text(policy.version), .previousVersion: .text(current.version)]
        )
    }
}
