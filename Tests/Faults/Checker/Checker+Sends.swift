// SPDX-License-Identifier: Apache-2.0

extension Checker {
    private static let openStates: Set<String> = ["pending", "claimed", "dispatching"]

    mutating func checkTables() {
        for send in history.sends where Self.openStates.contains(send.state) {
            report(.decided, "send \(send.id) of request \(send.request) is still \(send.state)")
        }
        for row in history.verifications where row.isSendOpen {
            report(.decided, "verification \(row.id) of request \(row.request) still waits for a send")
        }
    }

    /// Checks each send's row, write by write.
    mutating func checkFences() {
        var holders: [String: String] = [:]
        for change in history.sendChanges {
            if change.newFence < change.oldFence {
                counts.staleWrites += 1
                report(.fenced, "send \(change.send): the fence falls from \(change.oldFence) to \(change.newFence)")
            }
            if change.newFence > change.oldFence + 1 {
                report(.fenced, "send \(change.send): the fence jumps from \(change.oldFence)")
            }
            // A holder that delays its own send also raises the fence.
            let isClaim = change.oldState == nil || change.newFence > change.oldFence && change.newState != "pending"
            if isClaim {
                if change.oldState != nil, !change.leaseWasOver {
                    counts.staleWrites += 1
                    report(.fenced, "send \(change.send) is claimed from a holder whose lease is not over")
                }
                holders[change.send] = change.writer
                continue
            }
            let wasOpen = change.oldState.map { Self.openStates.contains($0) } ?? true
            let isHolder = holders[change.send] == change.writer
            // An interrupted holder may learn its outcome before the repeat has one.
            let isLate = repeatsUnknown && ["sent", "failed"].contains(change.newState)
            if wasOpen, !isHolder, !change.leaseWasOver, !isLate {
                counts.staleWrites += 1
                report(.fenced, "send \(change.send): \(change.newState) is written by another than the claim's holder")
            } else if !wasOpen, Self.openStates.contains(change.newState) {
                counts.staleWrites += 1
                report(.fenced, "send \(change.send) goes back from \(change.oldState ?? "") to \(change.newState)")
            } else if !history.hasReceipts, !isHolder, change.oldState == "unknown",
                change.newState == "sent" || change.newState == "failed"
            {
                // Only the holder of the last claim can learn the outcome of its call, and may record it late.
                counts.staleWrites += 1
                report(.fenced, "send \(change.send): an outcome nobody could know is settled by a lost claim")
            }
        }
    }
}
