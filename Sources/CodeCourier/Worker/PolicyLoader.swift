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
    private let faults: @Sendable (Policy) async -> [String]
    private let logger: Logger

    /// The last content that was checked.
    private var judged: PolicyText?

    /// Creates a loader; `faults` are those of a policy that only the database shows.
    init(
        path: String,
        providers: [String: Channel],
        policies: PolicySource,
        faults: @escaping @Sendable (Policy) async -> [String],
        logger: Logger
    ) {
        self.path = path
        self.providers = providers
        self.policies = policies
        self.faults = faults
        self.logger = logger
    }

    var paths: [String] { [path] + (judged?.prices.map { [$0.path] } ?? []) }

    func load(because cause: ReloadCause) async {
        let content = PolicyText(path: path)
        if cause == .change, judged == content { return }
        let isFirst = judged == nil
        judged = content
        switch PolicyFile.parse(content, providers: providers) {
        case .success(let policy):
            // The first check after the start usually finds the policy that the start has loaded.
            if isFirst, cause == .change, policy == policies.current { return }
            let faults = await faults(policy)
            // Another reload may have read newer content meanwhile.
            guard judged == content else { return }
            if faults.isEmpty { replace(with: policy) } else { refuse(faults.map { .text($0) }) }
        case .failure(let faults):
            refuse(faults.faults.map { LogValue($0) })
        }
    }

    private func refuse(_ faults: [LogValue]) {
        for fault in faults {
            logger.log(.policyRefused, [.fault: fault, .policyVersion: .text(policies.current.version)])
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
