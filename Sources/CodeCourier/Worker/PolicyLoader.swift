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

    /// The last content that was checked, as its text or the reason why it could not be read.
    private var judged: Result<String, TextFile.Unreadable>?

    init(path: String, providers: [String: Channel], policies: PolicySource, logger: Logger) {
        self.path = path
        self.providers = providers
        self.policies = policies
        self.logger = logger
    }

    var paths: [String] { [path] }

    func load(because cause: ReloadCause) {
        let content = read()
        if cause == .change, let judged, judged.isSame(as: content) { return }
        let isFirst = judged == nil
        judged = content
        switch parse(content) {
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

    private func read() -> Result<String, TextFile.Unreadable> {
        do throws(TextFile.Unreadable) {
            return .success(try TextFile.read(path, maximumBytes: YAMLDocument.maximumBytes))
        } catch {
            return .failure(error)
        }
    }

    private func parse(_ content: Result<String, TextFile.Unreadable>) -> Result<Policy, ConfigurationFaults> {
        switch content {
        case .success(let text):
            return PolicyFile.parse(text, file: path, providers: providers)
        case .failure(let unreadable):
            let faults = FaultCollector(file: path)
            faults.report(line: nil, key: "", unreadable.reason)
            return faults.result(nil)
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

extension Result where Success == String, Failure == TextFile.Unreadable {
    fileprivate func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.success(let left), .success(let right)): left.utf8.elementsEqual(right.utf8)
        case (.failure(let left), .failure(let right)): left.reason == right.reason
        case (.success, .failure), (.failure, .success): false
        }
    }
}
