// SPDX-License-Identifier: Apache-2.0

import Courier
import Logs
import Verification

extension ReportedSend {
    init(_ held: MemoryLedger.Held) {
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

extension SendResult {
    convenience init(unknown claim: ClaimedSend) {
        self.init(
            send: claim.reference,
            disposition: .unknown(.workerLost),
            attempts: claim.attempts,
            attempt: nil
        )
    }
}

extension ClaimedSend {
    /// The claim after one that was lost or handed back.
    convenience init(again held: MemoryLedger.Held) {
        let claim = held.claim
        self.init(
            reference: claim.reference.reclaimed,
            tenant: claim.tenant,
            purpose: claim.purpose,
            region: claim.region,
            recipient: claim.recipient,
            credential: claim.credential,
            rendering: claim.rendering,
            deadline: claim.deadline,
            timeLeft: claim.deadline - .now,
            validityLeft: claim.validityLeft,
            generation: claim.generation,
            attempts: held.attempts,
            isFictional: claim.isFictional,
            refusers: held.refusers,
            repetition: held.isRepeat ? Repetition(reason: .timeout, triedProviders: held.tried) : nil
        )
    }
}
