// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import Verification

/// Takes sends over whose worker is dead or whose next attempt is due.
struct Takeover {
    let ledger: any Ledger
    let sends: BatchQueue<Dispatch.Claims>
    let outbox: BatchQueue<OutboxRecord>
    let desk: ProviderDesk
    let settings: CourierSettings
    let inFlight: InFlight
    let retry: LedgerRetry
    let logger: Logger

    /// Takes over once; true when there was so much that there may be more.
    func take() async -> Bool {
        let claimedAt = ContinuousClock.now
        let room = inFlight.reserve(upTo: settings.batchSize, for: .takeover)
        let swept = await retry.once(.takeover) { try await ledger.sweepSends(capacity: room) }
        inFlight.claim(swept?.value.count ?? 0, of: room, for: .takeover)
        guard let swept else { return false }
        outbox.append(swept.outbox)
        if !swept.value.isEmpty {
            settings.observe(.sweepClaimed)
            logger.log(.sweepTakenOver, [.sends: LogValue(swept.value.count)])
            sends.append([Dispatch.Claims(sends: swept.value, claimedAt: claimedAt)])
        }
        // What a provider does not take now is handed back, and would be claimed again and again.
        let count = swept.outbox.count + (desk.hasPause ? 0 : swept.value.count)
        return count * 2 > settings.batchSize
    }
}
