// SPDX-License-Identifier: Apache-2.0

extension KafkaConsumer {
    /// Answers a rebalance, now or when the batch that is being worked on is committed; the group waits for the answer.
    func handleRebalance(_ event: borrowing ClientEvent) {
        let partitions = event.entries.map(\.partition)
        if event.code == .assignPartitions {
            // Only this one says so: a session that is over is known without a broker.
            brokersAnswered()
            assign(partitions)
            return
        }
        let isRevocation = event.code == .revokePartitions
        if !isRevocation, let error = event.error { notify(.error(error)) }
        buffer.removeAll()
        resumePaused()
        flow.reset()
        if handle?.isAssignmentLost ?? true {
            giveBack(notice: .lost(partitions))
        } else if isRevocation, assignment.hasUnsettledBatches {
            revocation = Revocation(partitions: partitions, deadline: revocationDeadline)
        } else {
            giveBack(notice: .revoked(partitions))
        }
    }

    /// Ends the wait for a batch that is being worked on, when it is committed or too slow.
    func finishRevocation() {
        guard let pending = revocation else { return }
        guard !assignment.hasUnsettledBatches || pending.deadline <= .now else { return }
        giveBack(notice: .revoked(pending.partitions))
    }

    private func assign(_ partitions: [TopicPartition]) {
        assignment.assign(partitions)
        buffer.removeAll()
        flow.reset()
        pausedPartitions = []
        watchForLosses(partitions)
        do {
            try handle?.assign(partitions)
            notify(.assigned(partitions))
            noteJoined()
        } catch {
            notify(.error(error))
            giveBack(notice: .revoked(partitions))
        }
    }

    private func giveBack(notice: ConsumerNotice) {
        revocation = nil
        assignment.clear()
        lossWatch = LossWatch()
        lagWatch = LagWatch()
        leaderWatch = LeaderWatch()
        identity.forgetRecords()
        if readFaults.clearPartitions() { notify(.readsAgain) }
        do {
            try handle?.unassign()
        } catch {
            notify(.error(error))
        }
        notify(notice)
    }

    /// The group waits for a member that lives on, and for none that leaves: that one leaves a second for its farewell.
    private var revocationDeadline: ContinuousClock.Instant {
        if case .closing(let deadline, _) = phase { deadline - .seconds(1) } else { .now + .seconds(2) }
    }
}
