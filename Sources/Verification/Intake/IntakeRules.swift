// SPDX-License-Identifier: Apache-2.0

package import Formats

package struct IntakeRules: Sendable {
    package let policy: Policy
    package let keys: CodeKeys
    package let settings: WorkerSettings

    /// The blocks of the toll-fraud brake.
    package var brake = BrakeBoard.empty

    /// Creates the randomness of one batch, for the nonces of its seals.
    private let randomness: @Sendable () -> any RandomNumberGenerator

    package init(
        policy: Policy,
        keys: CodeKeys,
        settings: WorkerSettings,
        randomness: @escaping @Sendable () -> any RandomNumberGenerator = { KernelRandomness() }
    ) {
        self.policy = policy
        self.keys = keys
        self.settings = settings
        self.randomness = randomness
    }

    /// True if a candidate is too old to be sent, so that it is decided without its recipient's rows.
    ///
    /// An unreadable candidate is as old as its record.
    package func isTooLate(_ candidate: Candidate, at now: Timestamp) -> Bool {
        let oldest = now - settings.maxRequestAge
        guard case .request(let request, _) = candidate.content else {
            return candidate.record.firstTimestamp.map { $0 < oldest } ?? false
        }
        let isStale = request.asked(before: now) < oldest
        return isStale || request.deadline.map { $0 <= now } ?? false
    }

    /// Decides a batch of requests: a pure function of the candidates and the facts about them.
    package func decide(_ candidates: [Candidate], facts: IntakeFacts) -> IntakeChanges {
        IntakeDecision(facts: facts, rules: self, randomness: randomness()).changes(by: candidates)
    }
}
