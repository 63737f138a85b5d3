// SPDX-License-Identifier: Apache-2.0

extension KafkaConsumer {
    /// Answers a rebalance, now or after the commit of the batches in progress; the group waits for the answer.
    func handleRebalance(_ event: borrowing ClientEvent) {
        let partitions = event.entries.map(\.partition)
        if event.code == .assignPartitions {
            return assign(partitions)
        }
        let isRevocation = event.code == .revokePartitions
        if !isRevocation, let error = event.error { notify(.error(error)) }
        buffer.removeAll()
        if handle?.isAssignmentLost ?? true {
            release(notice: .lost(partitions))
        } else if isRevocation, assignment.hasUnsettledBatches {
            revocation = Revocation(partitions: partitions, deadline: revocationDeadline)
        } else {
            release(notice: .revoked(partitions))
        }
    }

    /// Ends a revocation once the batches in progress are committed, or at its deadline.
    func finishRevocation() {
        guard let pending = revocation else { return }
        guard !assignment.hasUnsettledBatches || pending.deadline <= .now else { return }
        release(notice: .revoked(pending.partitions))
    }

    /// Starts reading, after a query of the group's committed offsets: this member's own commits would hide a loss.
    ///
    /// Without an answer, a loss is found only by a gap between two records.
    private func assign(_ partitions: [TopicPartition]) {
        assignment.assign(partitions)
        buffer.removeAll()
        see(.assigned(committed: (try? handle?.committedOffsets(of: partitions, within: Self.questionLimit)) ?? [:]))
        do {
            handle?.separateRecords(of: partitions)
            try handle?.assign(partitions)
            notify(.assigned(partitions))
            see(.joined)
        } catch {
            notify(.error(error))
            release(notice: .revoked(partitions))
        }
    }

    private func release(notice: ConsumerNotice) {
        revocation = nil
        assignment.clear()
        see(.released)
        do {
            try handle?.unassign()
        } catch {
            notify(.error(error))
        }
        notify(notice)
    }

    /// The deadline for batches in progress: 2 s, or a second before the end of a close, to leave the group in that
    /// second.
    private var revocationDeadline: ContinuousClock.Instant {
        if case .closing(let deadline) = life.phase { deadline - .seconds(1) } else { .now + .seconds(2) }
    }
}
