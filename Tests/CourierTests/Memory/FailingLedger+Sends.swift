// SPDX-License-Identifier: Apache-2.0

import Verification

extension ReportedSend {
    init(_ held: FailingLedger.Held) {
        self.init(
            reference: held.claim.reference,
            state: held.state.flatMap { State(rawValue: $0.rawValue) } ?? .sent,
            provider: nil,
            messageID: nil,
            segments: nil,
            encoding: nil,
            errorCode: nil
        )
    }
}

extension DueSend {
    /// Returns nil for a send with an outcome.
    init?(_ held: FailingLedger.Held) {
        guard let state = held.state else { return nil }
        self.init(
            reference: held.claim.reference,
            generation: held.claim.generation,
            state: state,
            deadline: held.claim.deadline,
            attempts: held.attempts,
            isRepeated: held.isRepeat,
            refusers: held.refusers,
            retryProvider: held.retryProvider,
            triedProviders: held.tried,
            rendering: held.claim.rendering
        )
    }
}
