// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import Verification

/// Takes sends over whose worker is dead or whose next attempt is due.
struct Takeover {
    let context: StageContext
    let claims: BatchQueue<Dispatch.Claims>
    let desk: ProviderDesk

    /// Takes over once; true when there was so much that there may be more.
    func take() async -> Bool {
        let claimedAt = ContinuousClock.now
        let room = context.inFlight.reserve(upTo: context.settings.batchSize, for: .takeover)
        let swept = await context.retry.run(.takeover, .once) { try await context.ledger.sweepSends(capacity: room) }
        context.inFlight.claim(swept?.value.count ?? 0, of: room, for: .takeover)
        guard let swept else { return false }
        context.outbox.append(swept.outbox)
        if !swept.value.isEmpty {
            context.settings.observe(.sweepClaimed)
            context.logger.log(.sweepTakenOver, [.sends: LogValue(swept.value.count)])
            claims.append([Dispatch.Claims(sends: swept.value, claimedAt: claimedAt)])
        }
        // What a provider does not take now is handed back, and would be claimed again and again.
        let count = swept.outbox.count + (desk.hasPause ? 0 : swept.value.count)
        return count * 2 > context.settings.batchSize
    }
}
