// SPDX-License-Identifier: Apache-2.0

import Verification

extension Handover {
    /// The answer that is told of those a send got: the one that came nearest to an acceptance, and of equal ones the last.
    struct Told: Sendable {
        let attempt: SendResult.Attempt
        let rank: Int

        init(_ attempt: SendResult.Attempt, _ outcome: ProviderOutcome, before: Told?) {
            let told = before.flatMap { $0.rank > outcome.rank ? $0 : nil }
            self.attempt = told?.attempt ?? attempt
            rank = told?.rank ?? outcome.rank
        }
    }
}

extension ProviderOutcome {
    /// How near to an acceptance it is.
    fileprivate var rank: Int {
        switch self {
        case .refused, .impossible: 0
        case .notSent, .throttled, .misconfigured: 1
        case .unknown: 2
        case .accepted, .fraud: 3
        }
    }
}
